import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

import { findTool } from "../debian-tool.ts";

const run = promisify(execFile);

/** Where the image keeps what the system has in `/bin`, `/lib` and so on. */
const merged = ["bin", "sbin", "lib", "lib64"];
/** Looked up by name when a program asks for an address or a user. */
const nameLibraries = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];
const certificates = "/etc/ssl/certs/ca-certificates.crt";

const files: Readonly<Record<string, string>> = {
  "etc/passwd": "root:x:0:0:root:/root:/bin/sh\napp:x:12000:12000:app:/home/app:/bin/sh\n",
  "etc/group": "root:x:0:\napp:x:12000:\n",
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
  "etc/os-release": 'NAME="Weir base image"\nID=weir\n',
};

/** Lays out a small system below `root`: `programs` with their libraries, users, certificates, and nothing else. */
export async function stageRoot(root: string, programs: readonly string[]): Promise<void> {
  for (const name of merged) {
    await mkdir(join(root, "usr", name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  for (const name of ["etc/ssl/certs", "tmp", "var/tmp", "home/app", "root", "proc", "sys", "dev", "run"])
    await mkdir(join(root, name), { recursive: true });
  // Whoever the function runs as, it finds a home it can write to.
  for (const name of ["tmp", "var/tmp", "home/app"]) await chmod(join(root, name), 0o1777);
  for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
  await copyFile(certificates, join(root, certificates)).catch(() => {});

  const libraries = new Set<string>();
  for (const program of programs) {
    await place(root, await realpath(program), join("usr/bin", basename(program)));
    for (const library of await librariesOf(program)) libraries.add(library);
  }
  const directories = new Set([...libraries].map(dirname));
  for (const name of nameLibraries) for (const directory of directories) libraries.add(join(directory, name));
  for (const library of libraries) {
    const found = await realpath(library).catch(() => undefined);
    if (found !== undefined) await place(root, found, library);
  }
}

/** Paths of those of `names` that this system has. */
export function programsFound(names: readonly string[]): string[] {
  return names.map(findTool).filter((path) => path !== undefined);
}

async function place(root: string, from: string, to: string): Promise<void> {
  await mkdir(dirname(join(root, to)), { recursive: true });
  await copyFile(from, join(root, to), constants.COPYFILE_FICLONE);
  await chmod(join(root, to), 0o755);
}

/** The loader too; none for a program that is linked statically. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run("ldd", [program]).catch(() => ({ stdout: "" }));
  return [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path = ""]) => path);
}
