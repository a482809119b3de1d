import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

import { prctlNumber, seccompFilter } from "./seccomp-filter.ts";

const run = promisify(execFile);
const probeTimeout = 10_000;

/** Restrictions on the processes of functions, beyond those of their user. */
export interface Confinement {
  /** Program and arguments that run the watchdog `command`, and so the function, with fewer privileges. */
  wrap(command: readonly string[]): string[];
  /** Prefix of the function's own command. */
  readonly inner: readonly string[];
  /** Set-user-id programs and file capabilities grant them nothing. */
  readonly noNewPrivileges: boolean;
  /** They hold no capabilities and can gain none; only set where this process is root. */
  readonly noCapabilities: boolean;
  /** System calls that functions do not need are refused. */
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
 * The watchdog starts as root and switches to the function's user itself, for which it needs two capabilities until
 * then. They are inherited, as with an empty bounding set there is no other way to get them.
 */
const untilUser = ["setpriv", "--inh-caps=-all,+setuid,+setgid"];
const rootPrivileges = [...untilUser, "setpriv", "--no-new-privs", "--bounding-set=-all"];
/** Drops what is left of those two, which is of no use any more, with the function's own command. */
const withoutInherited = ["setpriv", "--inh-caps=-all"];
const userPrivileges = ["setpriv", "--no-new-privs"];

/** Perl: installs the filter for its own process, then becomes the command, so that no process stays in between. */
const installFilter = [
  "my ($prctl, $file) = splice @ARGV, 0, 2;",
  'open my $in, "<:raw", $file or die "$file: $!"; local $/; my $filter = <$in>;',
  'my $program = pack "Sx![P]P", length($filter) / 8, $filter;',
  'syscall($prctl, 22, 2, $program) == 0 or die "no filter: $!"; exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";',
].join(" ");

/** Finds out, by trying, what this machine supports; writes the filter below `directory`, readable for all users. */
export async function findConfinement(directory: string): Promise<Confinement> {
  const isRoot = process.getuid?.() === 0;
  const privileges = isRoot ? rootPrivileges : userPrivileges;
  if (process.platform !== "linux" || !(await isEffective(privileges, /^NoNewPrivs:\s+1$/m))) return none;
  const common = {
    inner: isRoot ? withoutInherited : [],
    noNewPrivileges: true,
    noCapabilities: isRoot,
  };
  for (const filter of await filters(directory)) {
    const seccomp = [...privileges, ...filter];
    if (await isEffective(seccomp, /^Seccomp:\s+2$/m))
      return { ...common, seccomp: true, wrap: (command) => [...seccomp, ...command] };
  }
  return { ...common, seccomp: false, wrap: (command) => [...privileges, ...command] };
}

/** Arguments after `privileges` that install the filter: setpriv's own option, which it has since 2.40, or perl. */
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

/** Whether `line` matches `/proc/self/status` of a process that `wrapper` runs. */
async function isEffective(wrapper: readonly string[], line: RegExp): Promise<boolean> {
  const [program = "cat", ...args] = wrapper;
  try {
    const { stdout } = await run(program, [...args, "cat", "/proc/self/status"], { timeout: probeTimeout });
    return line.test(stdout);
  } catch {
    // The tool is missing, or does not support this.
    return false;
  }
}
