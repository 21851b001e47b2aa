// The pipe that both drivers answer on: one {"template", "context"} a line, one {"out"} or {"error"} a line.
import { createRequire } from "node:module";
import { join } from "node:path";
import readline from "node:readline";

/** Load a package from the folder in argv[2], where npm has installed it, rather than from beside this file. */
export const load = createRequire(join(process.argv[2], "package.json"));

/** Answer every line of stdin with what `render(template, context)` returns. */
export async function serve(render) {
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const { template, context } = JSON.parse(line);
    let reply;
    try {
      reply = { out: render(template, context) };
    } catch (error) {
      reply = { error: String(error?.message ?? error) };
    }
    process.stdout.write(JSON.stringify(reply) + "\n");
  }
}
