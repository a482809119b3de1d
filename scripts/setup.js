// JavaScript without dependencies: it runs on the Node that npm came with (20 or newer), before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { withoutSymbols } from "./strip-elf.js";

const oldestNode = 24;
/** The version among the npm packages: a machine that has it needs no other to run Weir. */
const ownNode = 26;
const staleGuardAge = 10_000;
const staleLockAge = 30 * 60_000;
const lockPoll = 200;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const lock = join(root, ".setup.lock");
const guard = `${lock}.guard`;
/** Records what the packages were installed from; npm removes this and `nodeNote` when it reinstalls. */
const packagesNote = join(root, "node_modules", ".weir-packages");
/** Exists only if all packages are installed. */
const testRunner = join(root, "node_modules", "vitest");
/** Records that a Node was found that runs here. */
const nodeNote = join(root, "node_modules", ".weir-node");
/** End of `packagesNote` if only the packages that run Weir are installed. */
const productionMark = "production\n";
/** Exit code when the output is complete, and there is nothing to start. */
const nothingToStart = 100;

/** With `--production`, the packages that run Weir are enough; the program to run and its arguments follow, if any. */
const production = process.argv[2] === "--production";
const [program, ...typed] = process.argv.slice(production ? 3 : 2);
const host = "runtime/host/main.ts";
/** The output of other programs may be captured, so progress goes to standard error for them. */
const say = program === undefined || program === host ? console.log : console.error;

/** What the packages must have been installed from, as in `packagesNote`. */
function wanted() {
  const hash = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${hash} ${process.platform} ${process.arch}\n`;
}

function noted() {
  return existsSync(packagesNote) ? readFileSync(packagesNote, "utf8") : undefined;
}

function packagesAreThere() {
  const note = noted();
  return note === wanted() || (production && note === wanted() + productionMark);
}

function upToDate() {
  return packagesAreThere() && existsSync(nodeNote);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (err) {
    return err.code === "EPERM";
  }
}

/**
 * Only one of several processes that saw a dead lock may remove it, else the second would remove the first one's new
 * lock.
 */
function removeDeadLock(holder) {
  try {
    mkdirSync(guard);
  } catch (err) {
    if (err.code !== "EEXIST") throw err;
    if (Date.now() - statSync(guard).mtimeMs > staleGuardAge) rmdirSync(guard);
    return;
  }
  try {
    if (readFileSync(lock, "utf8") === holder) rmSync(lock, { force: true });
  } finally {
    rmdirSync(guard);
  }
}

/** Acquires the lock; false when a living process holds it. */
function tryLock() {
  try {
    const file = openSync(lock, "wx");
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (err) {
    if (err.code !== "EEXIST") throw err;
  }
  try {
    const holder = readFileSync(lock, "utf8");
    const age = Date.now() - statSync(lock).mtimeMs;
    // An empty lock is one whose creator has not written its pid yet.
    const dead = holder === "" ? age > 5_000 : !isAlive(Number(holder)) || age > staleLockAge;
    if (dead) removeDeadLock(holder);
  } catch (err) {
    if (err.code !== "ENOENT") throw err;
  }
  return false;
}

function waitForLock() {
  let reported = false;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (!tryLock()) {
    if (!reported && existsSync(lock)) {
      say("Waiting for another set-up in this directory to finish …");
      reported = true;
    }
    Atomics.wait(clock, 0, 0, lockPoll);
  }
}

/** Which packages to install, and how: existing packages that fit are kept, as a Weir may be running with them. */
function installPlan() {
  const note = noted();
  // A developer with all packages keeps them: npm ci by hand leaves no note, but installs the test runner.
  const all = !production || (note === undefined ? existsSync(testRunner) : !note.endsWith(productionMark));
  if (all) {
    const added = note === wanted() + productionMark;
    return { all, how: added ? ["install", "--no-save"] : ["ci"], sets: ["--include=dev", "--include=optional"] };
  }
  const hasNode = Number(process.versions.node.split(".", 1)[0]) === ownNode;
  return { all, how: ["ci"], sets: ["--omit=dev", hasNode ? "--omit=optional" : "--include=optional"], hasNode };
}

function sizeText({ all, hasNode, how }) {
  if (all) {
    // Node was already stripped if it was installed to run Weir.
    const size = how[0] === "ci" ? 510 : 410;
    return `npm packages with all that tests and checks need, Node 26 among them (about ${size} MB in all; less than two minutes on most lines)`;
  }
  if (hasNode) return "npm packages (about 45 MB)";
  const size = process.platform === "linux" ? 160 : 190;
  return `npm packages, Node 26 among them (about ${size} MB; less than a minute on most lines)`;
}

/**
 * The compiled half of rolldown, which builds the console, for this machine: `name@version` as in the lockfile. It is an
 * optional package, and those are left out so that a machine with Node 26 gets no second one.
 */
function bundlerBinary() {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const libc = process.report?.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";
  const fits = (list, own) => list === undefined || list.includes(own);
  const directory = "node_modules/@rolldown/";
  return Object.entries(packages ?? {})
    .filter(([path]) => path.startsWith(`${directory}binding-`))
    .filter(([, { os, cpu, libc: libcs }]) => {
      return (
        fits(os, process.platform) && fits(cpu, process.arch) && (process.platform !== "linux" || fits(libcs, libc))
      );
    })
    .map(([path, { version }]) => `@rolldown/${path.slice(directory.length)}@${version}`)
    .at(0);
}

/** Installs what the plan names; returns a sentence if that fails. */
function installPackages(plan) {
  const problem = runNpm(plan);
  const binary = plan.hasNode === true ? bundlerBinary() : undefined;
  if (problem !== undefined || binary === undefined) return problem;
  return runNpm({ how: ["install", "--no-save", binary], sets: plan.sets });
}

/** Runs npm with the machine's own Node: the one below node_modules is about to be replaced. */
function runNpm({ how, sets }) {
  const path = (process.env.PATH ?? "").split(delimiter).filter((directory) => directory !== bin);
  const args = [...how, "--ignore-scripts", ...sets, "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync("npm", args, {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (npm.error?.code === "ENOENT") return "npm is not on PATH";
  if (npm.error !== undefined) return npm.error.message;
  if (npm.signal !== null) return `npm was ended by ${npm.signal}`;
  return npm.status === 0 ? undefined : `"npm ${how[0]}" failed (exit code ${npm.status}), see above`;
}

/** Removes what our programs do not read from Node's package: headers, manual, and symbols for debuggers. */
function slimNode() {
  const packages = join(root, "node_modules");
  for (const name of readdirSync(packages)) {
    const directory = join(packages, name);
    const node = join(directory, "bin", "node");
    if (!/^node-(?:bin-)?(?:linux|darwin)-/.test(name) || !existsSync(node)) continue;
    for (const unread of ["include", "share", "CHANGELOG.md"])
      rmSync(join(directory, unread), { recursive: true, force: true });
    if (process.platform !== "linux") continue;
    const parts = withoutSymbols(readFileSync(node));
    if (parts === undefined) continue;
    const slim = `${node}.slim`;
    const file = openSync(slim, "w", 0o755);
    for (const part of parts) for (let at = 0; at < part.length;) at += writeSync(file, part, at);
    closeSync(file);
    // If the stripped program does not run, the original is kept.
    if (nodeFailure(slim, ["--eval", "0"]) === undefined) renameSync(slim, node);
    else rmSync(slim, { force: true });
  }
}

/** Megabytes below a directory. */
function megabytes(directory) {
  const bytes = readdirSync(directory, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => (entry.isFile() ? sum + statSync(join(entry.parentPath, entry.name)).size : sum),
    0,
  );
  return Math.round(bytes / 1e6);
}

/** Prints what needs no packages, such as `--help`, from files, so that nothing is installed for it. */
function printFromFiles() {
  if (program === undefined) return false;
  if (program === host && (typed.includes("--version") || typed.includes("-V"))) {
    console.log(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version);
    return true;
  }
  const all = program === host && typed.includes("--help-all");
  if (!all && !typed.includes("--help")) return false;
  const page = program.replace(/main([^/]*)\.ts$/, `help$1${all ? "-all" : ""}.txt`);
  console.log(readFileSync(join(root, page), "utf8"));
  console.log(
    program === host
      ? `Nothing is installed yet. The first start installs ${sizeText(installPlan())} and, if there is none, a NATS server.`
      : `Before it runs it installs ${sizeText(installPlan())}.`,
  );
  return true;
}

/**
 * Says which flag does not exist, before anything is installed for it; undefined when all do. Only what a help page
 * lists is known here, and the program says more about values.
 */
function unknownFlag() {
  if (program === undefined) return undefined;
  const page = join(root, program.replace(/main([^/]*)\.ts$/, `help$1${program === host ? "-all" : ""}.txt`));
  if (!existsSync(page)) return undefined;
  const known = [...readFileSync(page, "utf8").matchAll(/^ +(?:-\w, )?(--[a-z0-9-]+)/gm)].map(([, flag]) => flag);
  if (known.length === 0) return undefined;
  const end = typed.indexOf("--");
  const flags = (end < 0 ? typed : typed.slice(0, end)).filter((word) => /^--[a-z]/.test(word));
  const unknown = flags.map((word) => word.split("=", 1)[0]).find((flag) => !known.includes(flag));
  if (unknown === undefined) return undefined;
  const near = known.map((flag) => ({ flag, edits: editsBetween(flag, unknown) })).sort((a, b) => a.edits - b.edits)[0];
  const question = near !== undefined && near.edits <= 3 ? `; did you mean ${near.flag}?` : "; --help lists all flags";
  return `Cannot start:\n  ${unknown}: no such flag${question}`;
}

/** How many characters must be added, removed or replaced (Levenshtein). */
function editsBetween(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

/** Why the Node at `path` cannot run here, or undefined. */
function nodeFailure(path, args = ["--version"]) {
  const { status, stderr, error } = spawnSync(path, args, { encoding: "utf8" });
  return status === 0 ? undefined : (stderr ?? "").trim() || error?.message || "it does not start";
}

/** Node's builds for Linux need this library, which the smallest Debian lacks. */
function installLibatomic() {
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0) return;
  say("Installing the Debian package libatomic1 with apt-get, which Node 26 needs (less than a minute) …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "libatomic1"]]) {
    const { status, stderr } = spawnSync("apt-get", ["-qq", ...args], { env, encoding: "utf8" });
    if (status !== 0) console.error((stderr ?? "").trim());
  }
}

/** Ensures that `node` is new enough in our npm scripts; returns a sentence if that is not possible. */
function findNode() {
  const link = join(bin, "node");
  const ownIsEnough = Number(process.versions.node.split(".", 1)[0]) >= oldestNode;
  if (!existsSync(link)) {
    if (ownIsEnough) return undefined;
    const platform = `${process.platform} ${process.arch}`;
    return `Cannot run on Node ${process.versions.node}: install Node ${oldestNode} or newer, as npm has none for ${platform}`;
  }
  let failure = nodeFailure(link);
  if (failure === undefined) return undefined;

  // npm puts this directory first on PATH: a Node that does not run would hide the one that does.
  const target = readlinkSync(link);
  rmSync(link);
  if (ownIsEnough) return undefined;
  const note = noted();
  rmSync(packagesNote, { force: true });
  if (failure.includes("libatomic")) {
    installLibatomic();
    failure = nodeFailure(resolve(bin, target));
  }
  if (failure === undefined) {
    symlinkSync(target, link);
    if (note !== undefined) writeFileSync(packagesNote, note);
    return undefined;
  }
  const cure = failure.includes("libatomic")
    ? "install libatomic (Debian, Ubuntu: apt-get install libatomic1; Fedora: dnf install libatomic)"
    : `install Node ${oldestNode} or newer`;
  return `Cannot run Node 26 on this machine: ${failure}; ${cure}, and start again`;
}

function fail(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

function setUp() {
  if (upToDate()) return;
  if (printFromFiles()) {
    process.exitCode = nothingToStart;
    return;
  }
  const mistyped = unknownFlag();
  if (mistyped !== undefined) {
    fail(mistyped);
    return;
  }
  waitForLock();
  try {
    if (!packagesAreThere()) {
      const plan = installPlan();
      say(`Installing ${sizeText(plan)} …`);
      const problem = installPackages(plan);
      if (problem !== undefined) {
        fail(`Cannot install npm packages: ${problem}`);
        return;
      }
      rmSync(nodeNote, { force: true });
      writeFileSync(packagesNote, plan.all ? wanted() : wanted() + productionMark);
    }
    if (existsSync(nodeNote)) return;
    const problem = findNode();
    if (problem !== undefined) {
      fail(problem);
      return;
    }
    // Only now: the stripped program is tested, too, and may need what was missing.
    if (noted()?.endsWith(productionMark)) slimNode();
    writeFileSync(nodeNote, "");
    say(`Installed: node_modules takes ${megabytes(join(root, "node_modules"))} MB`);
  } finally {
    rmSync(lock, { force: true });
  }
}

try {
  setUp();
} catch (err) {
  fail(`Cannot set up "${root}": ${err.message}`);
}
