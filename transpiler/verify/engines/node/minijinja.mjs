// minijinja-js: the Rust engine as wasm, with Rust's own values (maps are sorted), as mistral.rs has them.
import { load, serve } from "./lines.mjs";

const { Environment } = load("minijinja-js");

await serve((template, context) => {
  const environment = new Environment();
  environment.trimBlocks = true;
  environment.lstripBlocks = true;
  environment.enablePyCompat();
  // A function that throws is a trap that leaves the wasm instance broken: note the message, and fail afterwards.
  let raised = null;
  environment.addGlobal("raise_exception", (message) => {
    raised ??= new Error(message);
    return "";
  });
  environment.addTemplate("chat", template);
  const out = environment.renderTemplate("chat", context);
  environment.free?.();
  if (raised) throw raised;
  return out;
});
