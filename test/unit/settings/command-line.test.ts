import { expect, test } from "vitest";

import { readCommandLine } from "../../../runtime/process/command-line.ts";

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

test("sorts what was typed and judges nothing", () => {
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
