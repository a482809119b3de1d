// Plain JavaScript without dependencies: it runs on the Node that npm came with (20 or newer), before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const oldestNode = 24;
const staleLockAge = 30 * 60_000;
const lockPoll = 200;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const note = join(root, "node_modules", ".weir-setup");
const lock = join(root, ".setup.lock");

/** What the installed packages must have been installed from. */
function wanted() {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json"))).digest("hex");
  return `${hash} ${process.platform} ${process.arch}\n`;
}

function noted() {
  try {
    return readFileSync(note, "utf8");
  } catch {
    return undefined;
  }
}

function ownNodeIsNewEnough() {
  return Number(process.versions.node.split(".", 1)[0]) >= oldestNode;
}

function upToDate() {
  return noted() === wanted() && (existsSync(join(bin, "node")) || ownNodeIsNewEnough());
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (err) {
    return err.code === "EPERM";
  }
}

/** Of several that saw the same dead lock one moves it away; a new one that came in between is put back. */
function removeDeadLock(holder) {
  const moved = `${lock}.${process.pid}`;
  renameSync(lock, moved);
  if (readFileSync(moved, "utf8") !== holder && !existsSync(lock)) renameSync(moved, lock);
  else rmSync(moved, { force: true });
}

/** Takes the lock; false when a living process has it. */
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
    // An empty lock is one whose maker has not written its number yet.
    const dead = holder === "" ? age > 5_000 : !isAlive(Number(holder)) || age > staleLockAge;
    if (dead) removeDeadLock(holder);
  } catch (err) {
    if (err.code !== "ENOENT") throw err;
  }
  return false;
}

function waitForLock() {
  let said = false;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  while (!tryLock()) {
    if (!said && existsSync(lock)) {
      console.log("Waiting for another set-up in this directory to finish …");
      said = true;
    }
    Atomics.wait(clock, 0, 0, lockPoll);
  }
}

/** Runs npm with the machine's own Node: the one below node_modules is about to be replaced. */
function installPackages() {
  const path = (process.env.PATH ?? "").split(delimiter).filter((directory) => directory !== bin);
  const args = ["ci", "--ignore-scripts", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = spawnSync("npm", args, {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (npm.error?.code === "ENOENT") return "npm is not on PATH";
  if (npm.error !== undefined) return npm.error.message;
  if (npm.signal !== null) return `npm was ended by ${npm.signal}`;
  return npm.status === 0 ? undefined : `"npm ci" failed (exit code ${npm.status}), see above`;
}

/** A Node that cannot run on this system must not hide the system's own. */
function dropBrokenNode() {
  const node = join(bin, "node");
  if (existsSync(node) && spawnSync(node, ["--version"]).status !== 0) rmSync(node, { force: true });
}

function fail(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

function setUp() {
  if (upToDate()) return;
  waitForLock();
  try {
    if (upToDate()) return;
    console.log("Installing npm packages, Node 26 among them (about 300 MB; less than a minute on most lines) …");
    const problem = installPackages();
    if (problem !== undefined) {
      fail(`Cannot install npm packages: ${problem}`);
      return;
    }
    dropBrokenNode();
    if (!existsSync(join(bin, "node")) && !ownNodeIsNewEnough()) {
      fail(
        `Cannot run on Node ${process.versions.node}: install Node ${oldestNode} or newer, ` +
          `for there is no package of it for ${process.platform} ${process.arch}`,
      );
      return;
    }
    writeFileSync(note, wanted());
  } finally {
    rmSync(lock, { force: true });
  }
}

try {
  setUp();
} catch (err) {
  fail(`Cannot set up "${root}": ${err.message}`);
}
