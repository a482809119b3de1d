/** One step of the nightly run. */
export interface NightlyRow {
  readonly name: string;
  /** Completes "this row …". */
  readonly about: string;
  /** A script of package.json. */
  readonly script: string;
  readonly args: readonly string[];
  /** Whether it writes the counts of its tests with `--report`; otherwise it counts as one test. */
  readonly hasReport: boolean;
  /** Minutes after which it is ended, and counts as failed. */
  readonly minutes: number;
}

/** Minutes that all rows may take. */
export const longestNight = 180;

/** In the order in which they run: the most likely to fail first. */
export const nightlyRows: readonly NightlyRow[] = [
  {
    name: "tests",
    about:
      "runs the tests of `test/nightly`: minutes of load, gigabytes, millions of streams, clients that need big installs",
    script: "test",
    args: ["nightly"],
    hasReport: true,
    minutes: 58,
  },
  {
    name: "cluster",
    about:
      "runs those of `test/nightly-cluster` on real nodes: the other three editions, restarts of every part under load",
    script: "test:cluster",
    args: ["--tier", "nightly", "nightly-cluster/node", "operator-at-rest"],
    hasReport: true,
    minutes: 38,
  },
  {
    name: "namespaces",
    about: "runs those on pods that are only pretended: an operator with 1 000 namespaces and 10 000 functions",
    script: "test:cluster",
    args: ["--tier", "nightly", "--level", "kwok", "many-namespaces"],
    hasReport: true,
    minutes: 5,
  },
  {
    // On a cluster of its own: one that has just lost 10 000 functions is busy with that for minutes.
    name: "stacks",
    about: "runs those on pretended pods that need Pulumi: stacks whose `pulumi up` is interrupted",
    script: "test:cluster",
    args: ["--tier", "nightly", "--level", "kwok", "pulumi"],
    hasReport: true,
    minutes: 5,
  },
  {
    name: "faults",
    about: "repeats the files of fault rows, then queues calls while random faults are made",
    script: "test:soak",
    args: ["--repetitions", "2", "--minutes", "10"],
    hasReport: false,
    minutes: 22,
  },
  {
    name: "million",
    about: "sends calls through one queue while its workers and its broker are killed, and accounts for each",
    script: "test:million",
    args: ["--for", "8m"],
    hasReport: false,
    minutes: 12,
  },
  {
    name: "fuzz",
    about: "gives random input to all that reads foreign bytes",
    script: "fuzz",
    args: ["--seconds", "45"],
    hasReport: false,
    minutes: 12,
  },
  {
    name: "mutation",
    about:
      "changes a seventh of `runtime/core`, that of the day of the week, line by line and sees whether a unit test notices",
    script: "mutation",
    args: ["--share", "today"],
    hasReport: false,
    minutes: 28,
  },
];
