#!/usr/bin/env node
// Starts Weir on the Node.js that is installed beside it: this file runs on any Node.js from 22.19 on.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** Weir runs on this version or a newer one. */
const ownVersion = 26;
const host = join(import.meta.dirname, "runtime", "host");
const args = process.argv.slice(2);

const page = args.includes("--help-all") ? "help-all.txt" : args.includes("--help") ? "help.txt" : undefined;
if (page === undefined) start();
else process.stdout.write(readFileSync(join(host, page), "utf8").replaceAll("npm start --", "weir-platform"));

function start() {
  const node = findNode();
  if (node === undefined) {
    process.stderr.write(
      `Cannot start Weir: it needs Node.js ${ownVersion}, this is ${process.versions.node}, and there is no package with one for ${process.platform} ${process.arch}\n`,
    );
    process.exitCode = 1;
    return;
  }
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "weir", "compiled");
  const child = spawn(node, [join(host, "main.js"), ...args], {
    stdio: "inherit",
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  });
  // Ctrl-C reaches the child by itself; other signals are sent to this process alone.
  process.on("SIGINT", () => {});
  for (const name of ["SIGTERM", "SIGHUP"]) process.on(name, () => child.kill(name));
  child.on("error", (err) => {
    process.stderr.write(`Cannot start Weir: ${err.message}\n`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
}

/** The program that runs Weir: this one if it is new enough, else that of the package for this system. */
function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= ownVersion) return process.execPath;
  const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`];
  const require = createRequire(import.meta.url);
  for (const name of names) {
    try {
      const program = join(dirname(require.resolve(`${name}/package.json`)), "bin", "node");
      if (existsSync(program)) return program;
    } catch {
      // Not the package of this system.
    }
  }
  return undefined;
}
