// A small chart of lines over rounds, as SVG in the page's own colors: as many points as there are, from the first round on.

const SVG = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, BELOW, ABOVE, RIGHT] = [240, 44, 34, 12, 12];

function part(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// The next number that looks round, and half of it too.
function rounded(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 4, 6, 8, 10].map((each) => each * power).find((each) => each >= value);
}

// Each line has a name, a class for its color, and points [x, y]; `chosen` is drawn stronger.
export function lines(place, series, { chosen, below, beside }) {
  const width = Math.max(300, place.clientWidth);
  const points = series.flatMap((each) => each.points);
  const [most, highest] = [Math.max(1, ...points.map(([x]) => x)), rounded(Math.max(1, ...points.map(([, y]) => y)))];
  const across = (x) => LEFT + ((width - LEFT - RIGHT) * x) / most;
  const up = (y) => HEIGHT - BELOW - ((HEIGHT - BELOW - ABOVE) * y) / highest;
  const drawn = [0, highest / 2, highest].flatMap((y) => [
    part("line", { x1: LEFT, x2: width - RIGHT, y1: up(y), y2: up(y), class: "grid" }),
    part("text", { x: LEFT - 6, y: up(y) + 4, "text-anchor": "end" }, y.toLocaleString("en")),
  ]);
  drawn.push(part("text", { x: width - RIGHT, y: HEIGHT - BELOW + 16, "text-anchor": "end" }, most.toLocaleString("en")));
  drawn.push(part("text", { x: (width + LEFT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, below));
  drawn.push(part("text", { x: 12, y: (HEIGHT - BELOW + ABOVE) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(HEIGHT - BELOW + ABOVE) / 2})` }, beside));
  for (const each of series) {
    const path = each.points.map(([x, y], i) => `${i ? "L" : "M"}${across(x).toFixed(1)} ${up(y).toFixed(1)}`).join("");
    if (path) drawn.push(part("path", { d: path, class: `line ${each.color}${each === chosen ? " chosen" : ""}` }));
  }
  const svg = part("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${beside} over ${below}: ${series.map(said).join("; ")}`, class: "lines" });
  svg.append(...drawn);
  place.replaceChildren(svg);
}

function said({ name, points }) {
  if (points.length === 0) return `${name}: nothing yet`;
  const words = (value) => value.toLocaleString("en", { maximumFractionDigits: 1 });
  return `${name} from ${words(points[0][1])} to ${words(points.at(-1)[1])}`;
}
