"""Tools of other servers: MCP servers and A2A agents behind one port, called as external tools.

Their descriptions are foreign text: `definitions` checks them and makes tools of them. Requests leave by `outbound`,
which connects to public addresses only, unless a setting names the host.
"""

from libs.remote_tools.ports import Listed, Server, ServerDown, ToolChanged
from libs.remote_tools.settings import RemoteServer

__all__ = [
    "Listed",
    "RemoteServer",
    "Server",
    "ServerDown",
    "ToolChanged",
    "a2a_agent",
    "definitions",
    "mcp_server",
    "settings",
]
