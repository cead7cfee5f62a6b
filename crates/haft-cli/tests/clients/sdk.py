"""The client of the official Python SDK works with `haft serve`: `sdk.py legacy|modern PROGRAM|URL`.

The current directory is the one that is served; it holds `notes.txt`.
"""

import os
import pathlib
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

MODES = {"legacy": "legacy", "modern": "2026-07-28"}

# Twice the time in which what a client no longer waits for has to be gone, in seconds.
PATIENCE = 4


async def use(era, target):
    questions, progress = [], []

    async def answer(_context, params):
        questions.append(params.message)
        return ElicitResult(action="accept", content={"answer": "once"})

    async def count(now, total, message):
        progress.append(now)

    if not target.startswith("http"):
        # Of the environment only a little is handed on unasked.
        target = StdioServerParameters(command=target, args=["serve"], env=dict(os.environ))
    # A modern client that names its version does not find out about the server.
    mode = "auto" if era == "modern" else "legacy"
    async with Client(target, mode=mode, elicitation_callback=answer) as client:
        assert (client.protocol_version == MODES["modern"]) == (era == "modern"), client.protocol_version

        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"read_file", "write_file", "bash"} <= names, names

        result = await client.call_tool("read_file", {"path": "notes.txt"})
        assert not result.is_error and "three apples" in result.content[0].text, result
        assert not questions, questions

        # What the policy does not allow is asked about, and is done with the answer.
        result = await client.call_tool("write_file", {"path": "new.txt", "content": era})
        assert not result.is_error and len(questions) == 1, result
        assert pathlib.Path("new.txt").read_text() == era

        # What a command prints arrives while it runs.
        lines = "for n in 1 2 3; do echo $n; sleep 0.4; done"
        result = await client.call_tool("bash", {"command": lines}, progress_callback=count)
        assert not result.is_error and progress and progress == sorted(progress), (result, progress)

        # The arguments are wrong: that is for the model to correct and no error of the protocol.
        result = await client.call_tool("read_file", {"paths": 1})
        assert result.is_error, result

        # A call that nobody waits for any more ends, with its processes.
        pid = pathlib.Path("pid")
        with anyio.fail_after(20):
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "bash", {"command": "echo $$ > pid; sleep 60"})
                while not (pid.exists() and pid.read_text().strip()):
                    await anyio.sleep(0.02)
                calls.cancel_scope.cancel()
        await gone(int(pid.read_text()))
        pid.unlink()

        # The connection outlives the call.
        assert (await client.list_tools()).tools


async def gone(pid):
    with anyio.fail_after(PATIENCE):
        while pathlib.Path(f"/proc/{pid}").exists():
            await anyio.sleep(0.02)


anyio.run(use, *sys.argv[1:])
