"""Six MCP servers with ten tools each, and tasks for which one tool is right: the world of ``make agents``.

``python tools/agent_world.py SERVER [PORT]`` runs one of the servers, over standard input and output or over HTTP. In the
folder that ``WORLD_CONTROL`` names, a file ``SERVER.down`` makes it die and not start again, ``SERVER.slow`` makes it take
so many seconds for everything, and ``SERVER.changed`` gives it other tools.
"""

import os
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import numpy as np
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

__all__ = ["SERVERS", "Task", "descriptions", "draw", "ids"]

#: Each tool: what it does, its parameters, and what people say who want it: plainly, and in other words.
SERVERS: Final[dict[str, dict[str, tuple[str, str, tuple[str, ...]]]]] = {
    "files": {
        "read_file": ("Read the whole content of a file.", "path", ("Read the file {x}", "What does {x} say?", "Open {x} and show me what is in it")),
        "write_file": ("Write text to a file; an existing one is replaced.", "path, content", ("Write this text to {x}", "Save the notes as {x}", "Put the summary into {x}")),
        "edit_file": ("Replace a piece of text in a file by another.", "path, old_text, new_text", ("Replace the old address in the file {x}", "Fix the typo in {x}", "Change the title line of {x}")),
        "list_directory": ("List the files and folders in a directory.", "path", ("List the directory {x}", "Which files are in the folder {x}?", "What have we got in {x}?")),
        "create_directory": ("Create a directory, and those above it.", "path", ("Create a directory {x}", "Make a new folder called {x}", "I need somewhere to put the {x} pictures")),
        "move_file": ("Move or rename a file or a directory.", "source, destination", ("Move {x} to the archive", "Rename {x}", "Give {x} a better name")),
        "search_files": ("Search for files whose names match a pattern, in all folders below.", "path, pattern", ("Search for files that match {x}", "Where did I put {x}?", "Find every file named like {x}")),
        "file_info": ("Size, dates and permissions of a file.", "path", ("Get info about the file {x}", "How large is {x}?", "When was {x} last changed?")),
        "delete_file": ("Delete a file for good.", "path", ("Delete the file {x}", "Get rid of {x}", "Remove {x} from the disk")),
        "compress": ("Pack files into a zip archive.", "paths, archive", ("Compress {x} into an archive", "Zip the {x} folder", "Pack {x} so that I can send it")),
    },
    "code": {
        "create_issue": ("Open a new issue in a repository.", "repository, title, body, labels", ("Create an issue about {x}", "Report a bug: {x} crashes", "File a ticket for {x}")),
        "list_issues": ("List the issues of a repository, by state and label.", "repository, state, label", ("List the open issues about {x}", "What bugs are known in {x}?", "Which problems of {x} are unsolved?")),
        "comment_issue": ("Add a comment to an issue or a pull request.", "repository, number, body", ("Comment on the issue about {x}", "Reply to the bug report on {x}", "Tell them on the ticket that {x} is fixed")),
        "create_pull_request": ("Open a pull request from a branch.", "repository, head, base, title", ("Create a pull request for {x}", "Propose my changes to {x} for review", "Send the {x} branch upstream")),
        "merge_pull_request": ("Merge a pull request into its base branch.", "repository, number, method", ("Merge the pull request on {x}", "The changes to {x} are approved, take them in", "Land the {x} work")),
        "review_diff": ("Show the changes of a pull request or a commit as a diff.", "repository, reference", ("Show the diff of {x}", "What was changed in {x}?", "Look over the changes to {x}")),
        "search_code": ("Search the code of all repositories for text.", "query, language", ("Search the code for {x}", "Where is {x} defined?", "Which module uses {x}?")),
        "list_commits": ("List the last commits of a branch, with their authors.", "repository, branch, count", ("List the commits on {x}", "Who worked on {x} lately?", "What happened in {x} since Monday?")),
        "run_tests": ("Run the test suite of a project and report failures.", "project, pattern", ("Run the tests of {x}", "Does {x} still work?", "Check that {x} passes")),
        "create_branch": ("Create a branch in a repository.", "repository, name, base", ("Create a branch for {x}", "Start a line of work on {x}", "I want to try {x} without touching main")),
    },
    "calendar": {
        "create_event": ("Put an event into the calendar and invite people.", "title, start, end, attendees", ("Create an event for {x}", "Schedule a meeting about {x}", "Book an hour on Friday to talk about {x}")),
        "list_events": ("List the events between two dates.", "start, end", ("List my events on {x}", "What is on my calendar {x}?", "What do I have to attend {x}?")),
        "update_event": ("Change an event's time, place or people.", "event, start, end, attendees", ("Update the event {x}", "Move the {x} meeting to three o'clock", "Push {x} back by an hour")),
        "cancel_event": ("Cancel an event and tell its people.", "event, message", ("Cancel the event {x}", "Call off the {x} meeting", "We no longer need the {x} review")),
        "find_free_time": ("Find times at which all of several people are free.", "people, duration, start, end", ("Find free time for {x}", "When can we all meet about {x}?", "Is anybody busy when we do {x}?")),
        "set_reminder": ("Set a reminder for a time.", "text, time", ("Set a reminder about {x}", "Remind me tomorrow of {x}", "Do not let me forget {x}")),
        "accept_invitation": ("Accept or decline an invitation.", "invitation, answer", ("Accept the invitation to {x}", "Say yes to {x}", "Tell them that I cannot come to {x}")),
        "list_calendars": ("List the calendars that one may see.", "owner", ("List the calendars of {x}", "Whose calendars can I see in {x}?", "Which calendars do we have for {x}?")),
        "book_room": ("Book a meeting room for a time.", "room, start, end", ("Book a room for {x}", "We need a place to do {x}", "Reserve the large room for {x}")),
        "time_zone": ("Convert a time between time zones.", "time, source_zone, target_zone", ("Convert the time of {x} to another zone", "What time is {x} in Tokyo?", "When does {x} start for us here?")),
    },
    "mail": {
        "send_mail": ("Send an e-mail.", "to, subject, body, attachments", ("Send a mail about {x}", "Write to Anna about {x}", "Let the customer know about {x}")),
        "search_mail": ("Search for messages by words, sender or date.", "query, sender, since", ("Search my mail for {x}", "Did anybody write about {x}?", "Find the message with the {x} invoice")),
        "read_mail": ("Read a message with its attachments.", "message", ("Read the mail about {x}", "What did they say in the message on {x}?", "Show me the last letter on {x}")),
        "reply_mail": ("Reply to a message, to its sender or to all.", "message, body, everybody", ("Reply to the mail about {x}", "Answer the question on {x}", "Tell them all that {x} is fine")),
        "forward_mail": ("Forward a message to somebody else.", "message, to, note", ("Forward the mail about {x}", "Pass the message on {x} to Ben", "Ben should see what they wrote about {x}")),
        "label_mail": ("Put labels on messages, or take them off.", "messages, add, remove", ("Label the messages about {x}", "Tag everything on {x} as urgent", "Mark the {x} letters as done")),
        "delete_mail": ("Move messages to the bin.", "messages", ("Delete the messages about {x}", "Throw away the spam on {x}", "Clear the {x} newsletters out")),
        "list_folders": ("List the folders of a mailbox with their counts.", "mailbox", ("List the folders of {x}", "How many unread messages are in {x}?", "Which folders has the mailbox {x}?")),
        "create_filter": ("Create a rule that sorts incoming messages.", "condition, action", ("Create a filter for {x}", "Sort everything from {x} automatically", "Keep {x} out of my inbox from now on")),
        "save_attachment": ("Save the attachments of a message to disk.", "message, folder", ("Save the attachment of {x}", "Download the document that came with {x}", "Get me the PDF they sent about {x}")),
    },
    "data": {
        "run_query": ("Run an SQL query on the warehouse and return rows.", "sql, limit", ("Run a query on {x}", "How many orders of {x} were there?", "Look up the sales of {x} in the warehouse")),
        "list_tables": ("List the tables of a database.", "database, schema", ("List the tables in {x}", "Which data do we have on {x}?", "What is stored about {x}?")),
        "describe_table": ("Columns, types and row count of a table.", "table", ("Describe the table {x}", "Which columns has {x}?", "What fields are recorded in {x}?")),
        "plot_chart": ("Draw a chart of a table: line, bar or scatter.", "table, x, y, kind", ("Plot a chart of {x}", "Draw the trend of {x}", "Show me {x} as a picture")),
        "export_csv": ("Export a table or a query as CSV.", "table, path", ("Export {x} as CSV", "Give me {x} for a spreadsheet", "Dump {x} so that Excel reads it")),
        "import_csv": ("Import a CSV file as a table.", "path, table", ("Import {x} as a table", "Load the spreadsheet {x} into the warehouse", "Take in the numbers of {x}")),
        "join_tables": ("Join two tables by a key into a new one.", "left, right, key", ("Join {x} with the customers", "Combine {x} and orders by customer", "Bring {x} and the regions together")),
        "statistics": ("Mean, median, quantiles and missing values of columns.", "table, columns", ("Compute statistics of {x}", "What is the average of {x}?", "How is {x} distributed?")),
        "detect_outliers": ("Find rows that lie far from the others.", "table, columns, method", ("Detect outliers in {x}", "Is anything odd in {x}?", "Which values of {x} look wrong?")),
        "schedule_job": ("Run a query every day or week and store its result.", "sql, cron, target", ("Schedule a job for {x}", "Refresh {x} every night", "Compute {x} again each week")),
    },
    "web": {
        "search_web": ("Search the web and return pages.", "query, count", ("Search the web for {x}", "What is known about {x}?", "Find out about {x} on the internet")),
        "fetch_page": ("Fetch a web page as text.", "url", ("Fetch the page about {x}", "What does the site on {x} say?", "Open the link about {x}")),
        "take_screenshot": ("Take a screenshot of a web page.", "url, width, height", ("Take a screenshot of {x}", "How does the {x} page look?", "Give me a picture of the {x} site")),
        "weather": ("Current weather and forecast for a place.", "place, days", ("Weather in {x}", "Will it rain in {x}?", "Do I need a coat in {x}?")),
        "exchange_rate": ("Exchange rate between two currencies on a day.", "source, target, date", ("Exchange rate for {x}", "How many euros are 100 dollars for {x}?", "What would {x} cost in yen?")),
        "stock_price": ("Price of a share, now or on a day.", "symbol, date", ("Stock price of {x}", "What is a share of {x} worth?", "How is {x} doing on the market?")),
        "translate": ("Translate text into another language.", "text, target_language", ("Translate {x} into French", "How do you say {x} in Spanish?", "Put {x} into German for me")),
        "find_route": ("Find a route between two places by car, bike or train.", "source, destination, mode", ("Find a route to {x}", "How do I get to {x}?", "How long is the drive to {x}?")),
        "news": ("Latest news on a subject.", "subject, count", ("News about {x}", "What has happened with {x} this week?", "Anything new on {x}?")),
        "shorten_link": ("Make a short link of a long one.", "url", ("Shorten the link to {x}", "Make the address of {x} shorter", "I need a tiny link for {x}")),
    },
}  # fmt: skip
#: How often a task is worded in each way. An agent writes it, mostly in the words of what it wants to do; it may say
#: whose tool it wants, because `find_tools` names the servers; and it may repeat what its user said.
_WAYS: Final = (0.7, 0.2, 0.1)
_THINGS: Final = (
    "budget", "onboarding", "release notes", "Lisbon", "invoices", "parser", "quarter three", "login", "Project Owl", "Tuesday",
)  # fmt: skip
#: What a server has once it has changed, in the place of its last tool.
_NEW: Final = "archive_everything"


class Task(NamedTuple):
    """What an agent is asked to do, and the tool that is right for it."""

    text: str
    right: str


def ids() -> list[str]:
    """Return the names of all tools, as the gateway has them."""
    return [f"{server}__{tool}" for server, tools in SERVERS.items() for tool in tools]


def draw(count: int, seed: int = 0) -> list[Task]:
    """Return tasks at random: any tool, one of three ways to ask for it, about anything."""
    rng = np.random.default_rng(seed)
    tools = [(f"{server}__{tool}", entry[2]) for server, tools in SERVERS.items() for tool, entry in tools.items()]
    drawn = []
    for _ in range(count):
        name, ways = tools[rng.integers(len(tools))]
        way = int(rng.choice(len(ways), p=_WAYS))
        text = ways[way].format(x=_THINGS[rng.integers(len(_THINGS))])
        drawn.append(Task(f"{name.partition('__')[0]}: {text}" if way == 1 else text, name))
    return drawn


def descriptions(server: str, *, changed: bool = False) -> list[Tool]:
    """Return the tools of a server, as MCP has them."""
    tools = []
    for name, (description, parameters, _) in SERVERS[server].items():
        names = parameters.split(", ")
        properties = {
            each: {"type": "string", "description": f"The {each.replace('_', ' ')} to use."} for each in names
        }
        schema = {"type": "object", "properties": properties, "required": names[:1], "additionalProperties": False}
        tools.append(Tool(name=name, description=description, input_schema=schema))
    if changed:
        tools[-1] = Tool(name=_NEW, description="Archive everything.", input_schema={"type": "object"})
    return tools


class _World:
    """One server, as the control folder wants it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bus = InMemorySubscriptionBus()
        folder = os.environ.get("WORLD_CONTROL")
        self._control = None if folder is None else Path(folder)
        if self._is("down"):
            sys.exit(1)
        self.server: Server[Any] = Server(
            name,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )

    def _is(self, word: str) -> bool:
        return self._control is not None and (self._control / f"{self._name}.{word}").exists()

    async def _be_slow(self) -> None:
        if self._control is not None and self._is("slow"):
            await anyio.sleep(float((self._control / f"{self._name}.slow").read_text()))

    async def _list(self, _context: Any, _params: Any) -> ListToolsResult:
        await self._be_slow()
        return ListToolsResult(tools=descriptions(self._name, changed=self._is("changed")))

    async def _call(self, _context: Any, params: CallToolRequestParams) -> CallToolResult:
        await self._be_slow()
        return CallToolResult(content=[TextContent(type="text", text=f"{self._name}: {params.name} is done")])

    async def watch(self) -> None:
        """Do what the control folder says."""
        changed = self._is("changed")
        while True:
            await anyio.sleep(0.02)
            if self._is("down"):
                os._exit(1)
            if self._is("changed") != changed:
                changed = not changed
                await self._bus.publish(ToolsListChanged())


async def _run(name: str, port: int | None) -> None:
    world = _World(name)
    async with anyio.create_task_group() as group:
        group.start_soon(world.watch)
        if port is None:
            async with stdio_server() as (reading, writing):
                await world.server.run(reading, writing, world.server.create_initialization_options())
        else:
            app = world.server.streamable_http_app()
            settings = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)
            await uvicorn.Server(settings).serve()
        group.cancel_scope.cancel()


if __name__ == "__main__":
    anyio.run(_run, sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)
