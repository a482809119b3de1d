import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { prctlNumber, seccompFilter } from "./seccomp-filter.ts";

const run = promisify(execFile);
const probeTimeout = 10_000;

/** What processes of functions are kept from, beyond what their user may not do. */
export interface Confinement {
  /** Program and arguments that run the watchdog `command`, and so the function, with less. */
  wrap(command: readonly string[]): string[];
  /** Stands before the function's own command. */
  readonly inner: readonly string[];
  /** Set-user-id programs and file capabilities give them nothing. */
  readonly noNewPrivileges: boolean;
  /** They hold no capabilities and can get none; only where this process is root is that for it to say. */
  readonly noCapabilities: boolean;
  /** System calls that they have no use for are refused. */
  readonly seccomp: boolean;
}

const none: Confinement = {
  wrap: (command) => [...command],
  inner: [],
  noNewPrivileges: false,
  noCapabilities: false,
  seccomp: false,
};

/**
 * The watchdog begins as root and becomes the function's user by itself, which takes two capabilities until then; they are
 * inherited, as nothing that is not in the bounding set is got otherwise.
 */
const untilUser = ["setpriv", "--inh-caps=-all,+setuid,+setgid"];
const rootPrivileges = [...untilUser, "setpriv", "--no-new-privs", "--bounding-set=-all"];
/** What is left of those two is of no use, and goes with the function's own command. */
const withoutInherited = ["setpriv", "--inh-caps=-all"];
const userPrivileges = ["setpriv", "--no-new-privs"];

/** Reads the filter and makes it this process's, then becomes the command: no process stays between. */
const installFilter = [
  "my ($prctl, $file) = splice @ARGV, 0, 2;",
  'open my $in, "<:raw", $file or die "$file: $!"; local $/; my $filter = <$in>;',
  'my $program = pack "Sx![P]P", length($filter) / 8, $filter;',
  'syscall($prctl, 22, 2, $program) == 0 or die "no filter: $!"; exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";',
].join(" ");

/** Finds out, by trying, what this machine can do; what is needed for it is written below `directory`, for everybody to read. */
export async function findConfinement(directory: string): Promise<Confinement> {
  const isRoot = process.getuid?.() === 0;
  const privileges = isRoot ? rootPrivileges : userPrivileges;
  if (process.platform !== "linux" || !(await isKept(privileges, /^NoNewPrivs:\s+1$/m))) return none;
  const common = {
    inner: isRoot ? withoutInherited : [],
    noNewPrivileges: true,
    noCapabilities: isRoot,
  };
  for (const filter of await filters(directory)) {
    const seccomp = [...privileges, ...filter];
    if (await isKept(seccomp, /^Seccomp:\s+2$/m))
      return { ...common, seccomp: true, wrap: (command) => [...seccomp, ...command] };
  }
  return { ...common, seccomp: false, wrap: (command) => [...privileges, ...command] };
}

/** What stands behind `privileges` so that the filter is installed: setpriv's own option, which it has since 2.40, or perl. */
async function filters(directory: string): Promise<readonly (readonly string[])[]> {
  const filter = seccompFilter(process.arch);
  const prctl = prctlNumber[process.arch];
  if (filter === undefined || prctl === undefined) return [];
  const file = join(directory, "seccomp-filter");
  await writeFile(file, filter, { mode: 0o644 });
  return [
    ["--seccomp-filter", file],
    ["perl", "-e", installFilter, String(prctl), file],
  ];
}

/** Whether what `wrapper` runs has a status of which `line` is true. */
async function isKept(wrapper: readonly string[], line: RegExp): Promise<boolean> {
  const [program = "cat", ...args] = wrapper;
  try {
    const { stdout } = await run(program, [...args, "cat", "/proc/self/status"], { timeout: probeTimeout });
    return line.test(stdout);
  } catch {
    // The tool is not there, or does not know how.
    return false;
  }
}
