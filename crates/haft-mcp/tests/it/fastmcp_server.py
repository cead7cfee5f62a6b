"""A server of FastMCP: over its standard streams, or over HTTP at the port that it is given."""

import sys

from fastmcp import FastMCP

server = FastMCP("counterpart")


@server.tool
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool
def add(left: int, right: int) -> int:
    """Adds two numbers."""
    return left + right


@server.resource("note://greeting")
def greeting() -> str:
    """A greeting."""
    return "Hello"


@server.prompt
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}."


if len(sys.argv) > 1:
    server.run(transport="http", port=int(sys.argv[1]), show_banner=False)
else:
    server.run(show_banner=False)
