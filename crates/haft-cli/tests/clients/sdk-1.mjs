// The first TypeScript SDK works with `haft serve`: `sdk-1.mjs legacy PROGRAM|URL`.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { use } from "./use.mjs";

const [era, target] = process.argv.slice(2);
const client = new Client({ name: "sdk-1", version: "1.0.0" }, { capabilities: { elicitation: {} } });
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: ["serve"], env: process.env });
await use(era, client, transport, {
  onElicit: (answer) => client.setRequestHandler(ElicitRequestSchema, answer),
  call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
});
