// The second TypeScript SDK works with `haft serve`: `sdk-2.mjs legacy|modern PROGRAM|URL`.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { use } from "./use.mjs";

const [era, target] = process.argv.slice(2);
const client = new Client(
  { name: "sdk-2", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
  },
);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: ["serve"], env: process.env });
await use(era, client, transport, {
  onElicit: (answer) => client.setRequestHandler("elicitation/create", answer),
  call: (name, args, options) => client.callTool({ name, arguments: args }, options),
});
