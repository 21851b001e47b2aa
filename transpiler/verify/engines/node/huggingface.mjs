// @huggingface/jinja: the engine of transformers.js and LM Studio. It always trims blocks.
import { load, serve } from "./lines.mjs";

const { Template } = load("@huggingface/jinja");

await serve((template, context) => new Template(template).render(context));
