"""FastMCP works with `haft serve`: `fastmcp_client.py legacy|modern direct PROGRAM|URL` and, with a proxy of
FastMCP between the two, `fastmcp_client.py legacy|modern proxy URL`.

The current directory is the one that is served; it holds `notes.txt`.
"""

import asyncio
import os
import pathlib
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

MODES = {"legacy": "legacy", "modern": "2026-07-28"}

# How long is waited for what begins, and twice the time in which what a client no longer waits for has to be gone, in
# seconds.
PATIENCE = 30
GONE = 4


# What this script is told to be the proxy with.
PROXY = "--proxy"


async def use(era, way, target):
    questions, progress = [], []

    async def answer(message, _form, _params, _context):
        questions.append(message)
        return ElicitResult(action="accept", content={"answer": "once"})

    async def count(now, _total, _message):
        progress.append(now)

    if way == "proxy":
        target = StdioTransport(command=sys.executable, args=[__file__, PROXY, target], env=dict(os.environ))
    elif not target.startswith("http"):
        target = StdioTransport(command=target, args=["serve"], env=dict(os.environ))
    client = Client(target, mode=MODES[era], elicitation_handler=answer, progress_handler=count)
    async with client:
        names = {tool.name for tool in await client.list_tools()}
        assert {"read_file", "write_file", "bash"} <= names, names

        result = await client.call_tool("read_file", {"path": "notes.txt"})
        assert "three apples" in result.content[0].text, result
        assert not questions, questions

        # What the policy does not allow is asked about, and is done with the answer.
        await client.call_tool("write_file", {"path": "new.txt", "content": era})
        assert len(questions) == 1, questions
        assert pathlib.Path("new.txt").read_text() == era

        # What a command prints arrives while it runs.
        progress.clear()
        await client.call_tool("bash", {"command": "for n in 1 2 3; do echo $n; sleep 0.4; done"})
        assert progress and progress == sorted(progress), progress

        # The arguments are wrong: that is for the model to correct and no error of the protocol.
        result = await client.call_tool("read_file", {"paths": 1}, raise_on_error=False)
        assert result.is_error, result

        # A call that nobody waits for any more ends, with its processes.
        pid = pathlib.Path("pid")
        call = asyncio.create_task(client.call_tool("bash", {"command": "echo $$ > pid; sleep 60"}))
        async with asyncio.timeout(PATIENCE):
            while not (pid.exists() and pid.read_text().strip()):
                await asyncio.sleep(0.02)
        call.cancel()
        async with asyncio.timeout(GONE):
            while pathlib.Path(f"/proc/{pid.read_text().strip()}").exists():
                await asyncio.sleep(0.02)

        # The connection outlives the call.
        assert await client.list_tools()


if sys.argv[1] == PROXY:
    create_proxy(sys.argv[2]).run(transport="stdio", show_banner=False)
else:
    asyncio.run(use(*sys.argv[1:]))
