// Plain JavaScript without dependencies: it runs on the Node that npm came with (20 or newer), before anything is installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const oldestNode = 24;
const staleGuardAge = 10_000;
const staleLockAge = 30 * 60_000;
const lockPoll = 200;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const lock = join(root, ".setup.lock");
const guard = `${lock}.guard`;
/** What the packages were installed from; both notes go when npm installs anew. */
const packagesNote = join(root, "node_modules", ".weir-packages");
/** That a Node was found that runs here. */
const nodeNote = join(root, "node_modules", ".weir-node");

/** What the packages must have been installed from. */
function wanted() {
  const hash = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${hash} ${process.platform} ${process.arch}\n`;
}

function packagesAreThere() {
  return existsSync(packagesNote) && readFileSync(packagesNote, "utf8") === wanted();
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

/** Of several that saw the same dead lock only one may remove it, else the second would remove the first one's new lock. */
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
  const args = [
    "ci",
    "--ignore-scripts",
    "--include=dev",
    "--include=optional",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
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

/** Why the Node at `path` cannot run here, or undefined. */
function troubleWithNode(path) {
  const { status, stderr, error } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return status === 0 ? undefined : (stderr ?? "").trim() || error?.message || "it does not start";
}

/** Node's builds for Linux need this library, which the smallest Debian lacks. */
function installLibatomic() {
  if (process.getuid?.() !== 0 || spawnSync("apt-get", ["--version"]).status !== 0) return;
  console.log("Installing the Debian package libatomic1 with apt-get, which Node 26 needs (less than a minute) …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "-y", "--no-install-recommends", "libatomic1"]]) {
    const { status, stderr } = spawnSync("apt-get", ["-qq", ...args], { env, encoding: "utf8" });
    if (status !== 0) console.error((stderr ?? "").trim());
  }
}

/** Makes sure that `node` is new enough in our npm scripts; a sentence if that cannot be. */
function findNode() {
  const link = join(bin, "node");
  const ownIsEnough = Number(process.versions.node.split(".", 1)[0]) >= oldestNode;
  if (!existsSync(link)) {
    if (ownIsEnough) return undefined;
    const platform = `${process.platform} ${process.arch}`;
    return `Cannot run on Node ${process.versions.node}: install Node ${oldestNode} or newer, as npm has none for ${platform}`;
  }
  let trouble = troubleWithNode(link);
  if (trouble === undefined) return undefined;

  // npm puts this directory first on PATH: a Node that does not run would hide the one that does.
  const target = readlinkSync(link);
  rmSync(link);
  if (ownIsEnough) return undefined;
  rmSync(packagesNote, { force: true });
  if (trouble.includes("libatomic")) {
    installLibatomic();
    trouble = troubleWithNode(resolve(bin, target));
  }
  if (trouble === undefined) {
    symlinkSync(target, link);
    writeFileSync(packagesNote, wanted());
    return undefined;
  }
  const cure = trouble.includes("libatomic")
    ? "install libatomic (Debian, Ubuntu: apt-get install libatomic1; Fedora: dnf install libatomic)"
    : `install Node ${oldestNode} or newer`;
  return `Cannot run Node 26 on this machine: ${trouble}; ${cure}, and start again`;
}

function fail(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

function setUp() {
  if (upToDate()) return;
  waitForLock();
  try {
    if (!packagesAreThere()) {
      console.log("Installing npm packages, Node 26 among them (about 300 MB; less than a minute on most lines) …");
      const problem = installPackages();
      if (problem !== undefined) {
        fail(`Cannot install npm packages: ${problem}`);
        return;
      }
      writeFileSync(packagesNote, wanted());
    }
    if (existsSync(nodeNote)) return;
    const problem = findNode();
    if (problem === undefined) writeFileSync(nodeNote, "");
    else fail(problem);
  } finally {
    rmSync(lock, { force: true });
  }
}

try {
  setUp();
} catch (err) {
  fail(`Cannot set up "${root}": ${err.message}`);
}
