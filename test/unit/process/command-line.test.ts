import { expect, test } from "vitest";

import { hostCommandLine } from "../../../runtime/host/read-host-settings.ts";
import { helpText, readCommandLine } from "../../../runtime/process/command-line.ts";

const line = {
  name: "thing",
  about: "A thing.",
  version: "1.2.3",
  flags: [
    { name: "port", about: "Port", kind: "port", fallback: "8080" },
    { name: "max-wait", about: "Longest", kind: "duration", fallback: undefined },
    { name: "strict", about: "In order", kind: "true or false", fallback: "false" },
  ],
};

test("sorts what was typed, without checking values", () => {
  const typed = readCommandLine(line, ["--port=1", "--max-wait", "5s", "--strict", "--config", "a.yaml"]);
  expect(typed).toEqual({
    values: { port: "1", "max-wait": "5s", strict: "true", config: "a.yaml" },
    unknown: [],
    withoutValue: [],
    words: [],
  });
});

test("finds all unknown flags, missing values and loose words; values of unknown flags are left out", () => {
  const typed = readCommandLine(line, ["loose", "--prt", "s3cret", "--pass=s3cret", "--port", "--strict", "no", "-x"]);
  expect(typed).toEqual({
    values: { strict: "no" },
    unknown: ["prt", "pass", "x"],
    withoutValue: ["port"],
    words: ["loose"],
  });
});

test("the help of npm start has groups, names every flag once with --help-all, and hides rare ones", () => {
  const usual = helpText(hostCommandLine, false);
  const all = helpText(hostCommandLine, true);
  const flagsIn = (text: string): string[] => [...text.matchAll(/^ {2}--([a-z-]+)/gm)].map(([, name = ""]) => name);
  const own = ["config", "help-all", "help"];
  expect(flagsIn(all).toSorted()).toEqual([...hostCommandLine.flags.map(({ name }) => name), ...own].toSorted());
  for (const heading of ["Addresses:", "Functions:", "Queued calls:", "Log:"])
    expect(usual).toContain(`\n${heading}\n`);
  expect(flagsIn(usual)).toEqual(expect.arrayContaining(["port", "data", "provider", "log-format", "max-inflight"]));
  for (const rare of ["recreate", "orphan-grace", "repair-cooldown", "doctor-period"]) {
    expect(flagsIn(usual)).not.toContain(rare);
    expect(flagsIn(all)).toContain(rare);
  }
  const hidden = flagsIn(all).length - flagsIn(usual).length;
  expect(usual).toContain(`--help-all shows ${hidden} more`);
});

test("a flag that --help does not show is still read", () => {
  expect(readCommandLine(hostCommandLine, ["--recreate", "CB"])).toMatchObject({
    values: { recreate: "CB" },
    unknown: [],
  });
});
