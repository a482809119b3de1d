import { stageProgram } from "./stage-weir.ts";

// For the Dockerfile: Node.js and the system come from its base image.
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const [root] = process.argv.slice(2);
if (root === undefined) {
  say("Cannot stage the program: expected a directory");
  process.exitCode = 2;
} else await stageProgram(root, say);
