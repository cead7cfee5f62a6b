"""A client of the newer era goes on when one of two instances dies: `instances.py URL LOG ADDRESS=PID ADDRESS=PID`.

The URL is that of the balancer, whose log says of each request which instance it was given to.
"""

import os
import pathlib
import signal
import sys

import anyio
from mcp import Client
from mcp_types import ElicitResult

PATIENCE = 20


async def use(url, log, *served):
    questions = []
    pids = dict(instance.split("=") for instance in served)

    async def answer(_context, params):
        questions.append(params.message)
        return ElicitResult(action="accept", content={"answer": "once"})

    async def instances(wanted, tool):
        """Waits until so many requests for a tool are done, and says which instances they were given to."""
        with anyio.fail_after(PATIENCE):
            while True:
                lines = [line.split(" ", 3) for line in pathlib.Path(log).read_text().splitlines()]
                done = [line for line in lines if line[:2] == ["tools/call", tool]]
                if len(done) >= wanted:
                    assert all(line[2] == "200" for line in done), done
                    return [line[3] for line in done]
                await anyio.sleep(0.02)

    async def reads(client):
        result = await client.call_tool("read_file", {"path": "notes.txt"})
        assert not result.is_error and "three apples" in result.content[0].text, result

    async def writes(client, name):
        before = len(questions)
        result = await client.call_tool("write_file", {"path": name, "content": name})
        assert not result.is_error and len(questions) == before + 1, (result, questions)
        assert pathlib.Path(name).read_text() == name

    async with Client(url, mode="2026-07-28", elicitation_callback=answer) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"read_file", "write_file", "bash"} <= names, names

        # Each instance gets its share.
        for _ in range(4):
            await reads(client)
        assert set(await instances(4, "read_file")) == set(pids)

        # One instance asks, the other one gets the answer.
        await writes(client, "both.txt")
        assert set(await instances(2, "write_file")) == set(pids)

    # One asks, and dies before it is answered.
    async def kills(_context, params):
        questions.append(params.message)
        asked = (await instances(3, "write_file"))[2]
        os.kill(int(pids.pop(asked)), signal.SIGKILL)
        return ElicitResult(action="accept", content={"answer": "once"})

    async with Client(url, mode="2026-07-28", elicitation_callback=kills) as client:
        await writes(client, "one.txt")
        (left,) = pids
        for _ in range(6):
            await reads(client)
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "read_file" in names, names
        assert (await instances(10, "read_file"))[-1].endswith(left)


anyio.run(use, *sys.argv[1:])
