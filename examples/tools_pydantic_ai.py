"""Pydantic AI's tool search, by a ToolShortlist: at most ten tools per search, fewer as the agent calls them.

Run: python examples/tools_pydantic_ai.py

Needs pydantic-ai-slim 2.66. A scripted model takes the place of a language model: it searches, and calls what the list
has for it. With a real one, only `model=` changes.
"""

from collections.abc import Sequence
from typing import Any

from agent_tools import TASKS, make_functions
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.capabilities import Hooks, ToolSearch
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition

from shortlist.integrations.tools import ToolShortlist

tools = ToolShortlist()


def search(ctx: RunContext[Any], queries: Sequence[str], offered: Sequence[ToolDefinition]) -> list[str]:
    """Search for tools: this is all that Pydantic AI needs."""
    return tools.search(" ".join(queries), session=ctx.conversation_id, tools=offered)


async def after_call(ctx: RunContext[Any], *, call: ToolCallPart, result: Any, **_: Any) -> Any:
    """Tell what was called; the search itself is a call too."""
    if call.tool_name != "search_tools":
        tools.called(call.tool_name, session=ctx.conversation_id or "")
    return result


async def failed_call(ctx: RunContext[Any], *, call: ToolCallPart, error: Exception, **_: Any) -> Any:
    """Tell what failed."""
    tools.called(call.tool_name, session=ctx.conversation_id or "", failed=True)
    raise error


async def after_run(ctx: RunContext[Any], *, result: Any) -> Any:
    """Tell that the conversation has ended; in a chat, when the user leaves."""
    tools.end(ctx.conversation_id)
    return result


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Search for the task, call the right tool if it is among those found, and stop."""
    task = str(messages[0].parts[-1].content)
    last = messages[-1].parts[-1]
    if not isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[ToolCallPart("search_tools", {"queries": [task]})])
    right = TASKS[task]
    if last.tool_name == "search_tools" and right in {tool.name for tool in info.function_tools}:
        return ModelResponse(parts=[ToolCallPart(right, {})])
    return ModelResponse(parts=[TextPart("done")])


def make_agent() -> Agent[None, str]:
    """Return an agent whose tools are found by search."""
    functions = [Tool(function, name=name, description=text, defer_loading=True)
                 for name, text, function in make_functions()]  # fmt: skip
    hooks = Hooks(after_tool_execute=after_call, tool_execute_error=failed_call, after_run=after_run)
    return Agent(FunctionModel(scripted), tools=functions, capabilities=[ToolSearch(strategy=search), hooks])


if __name__ == "__main__":
    agent = make_agent()
    for task in TASKS:
        agent.run_sync(task)
    for line in tools.summary().lines():
        print(line)
