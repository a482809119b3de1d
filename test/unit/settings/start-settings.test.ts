import { describe, expect, test } from "vitest";

import { SettingsError } from "../../../runtime/settings/read-settings.ts";
import { renamedSettings } from "../../../runtime/settings/renamed-settings.ts";
import { settingNames } from "../../../runtime/settings/setting-names.ts";
import { notAbove } from "../../../runtime/settings/setting-rules.ts";
import { duration, flag, list, optionalText, text, whole } from "../../../runtime/settings/setting.ts";
import { startSettings, type StartSources, type TypedFlags } from "../../../runtime/settings/start-settings.ts";

const table = {
  minWait: duration("min_wait", { fallback: "1s", min: 100, about: "Shortest" }),
  maxWait: duration("max_wait", { fallback: "10s", max: 60_000, about: "Longest" }),
  maxInflight: whole("max_inflight", { fallback: "1", min: 1, max: 10, about: "At once" }),
  port: whole("port", { fallback: "8080", about: "Port" }),
  names: list("names", { fallback: "", about: "Names" }),
  strict: flag("strict", { fallback: "false", about: "In order" }),
  url: { ...text("url", { about: "Where", fallback: "http://a" }), show: () => "…" },
  note: optionalText("note", { about: "Anything" }),
};
const rules = [notAbove("minWait", "maxWait")];

interface Start {
  readonly flags?: Record<string, string>;
  readonly typed?: Partial<TypedFlags>;
  readonly environment?: Record<string, string>;
  readonly file?: Record<string, unknown>;
  readonly sharedFile?: boolean;
}

function start({ flags = {}, typed = {}, environment = {}, file, sharedFile = false }: Start) {
  const sources: StartSources<never> = {
    typed: {
      values: { ...flags, ...(file === undefined ? {} : { config: "weir.yaml" }) },
      unknown: [],
      withoutValue: [],
      words: [],
      ...typed,
    },
    environment,
    // JSON is YAML, too.
    readFile: () => Buffer.from(JSON.stringify(file ?? {})),
    rules: [],
    sharedFile,
  };
  return startSettings(table, { ...sources, rules });
}

function problemsOf(given: Start): readonly string[] {
  try {
    start(given);
  } catch (err) {
    if (err instanceof SettingsError) return err.problems;
    throw err;
  }
  return [];
}

describe("startSettings()", () => {
  test("stops at a former name of a setting, in any source, and gives the new one", () => {
    const variables = {
      typed: { unknown: ["websocket-idle"] },
      file: { body_silence: "1s" },
      environment: { call_age: "1h" },
    };
    expect(problemsOf(variables)).toEqual([
      "--websocket-idle is now --websocket-idle-timeout",
      "body_silence is now body_idle_timeout (settings file)",
      "call_age is now call_max_age (environment)",
    ]);
  });

  test("has no setting under the former name of another", () => {
    expect(settingNames.filter((name) => renamedSettings.has(name))).toEqual([]);
    for (const now of renamedSettings.values()) expect(settingNames).toContain(now);
  });

  test("takes the flag, else the environment, else the file, else the default", () => {
    const file = { max_wait: 20, max_inflight: 3, names: ["a", "b"], strict: true };
    const environment = { max_inflight: "4", min_wait: "2s" };
    expect(start({ flags: { "max-inflight": "5" }, environment, file }).settings).toEqual({
      minWait: 2_000,
      maxWait: 20_000,
      maxInflight: 5,
      port: 8_080,
      names: ["a", "b"],
      strict: true,
      url: "http://a",
      note: undefined,
    });
    expect(start({ environment, file }).settings.maxInflight).toBe(4);
    expect(start({ file }).settings.maxInflight).toBe(3);
    expect(start({}).settings.maxInflight).toBe(1);
  });

  test("reports all problems at once, each with name, rule, value and source", () => {
    const problems = problemsOf({
      flags: { "max-wait": "2m" },
      typed: { unknown: ["max-inflght", "nonsense"], withoutValue: ["port"], words: ["now"] },
      environment: { max_inflight: "many" },
      file: { names: ["a"], strict: "perhaps", min_wiat: "3s", else: "s3cret" },
    });
    expect(problems).toEqual([
      "--port: expected a value, got none",
      "--max-inflght: no such flag; did you mean --max-inflight?",
      "--nonsense: no such flag",
      '"now": expected flags only, see --help',
      "min_wiat: no such setting (settings file); did you mean min_wait?",
      "else: no such setting (settings file)",
      'max_wait: expected a duration from 0s to 1m, got "2m" (flag --max-wait)',
      'max_inflight: expected a whole number, 1 to 10, got "many" (environment)',
      'strict: expected true or false, got "perhaps" (settings file)',
    ]);
    expect(problems.join()).not.toContain("s3cret");
  });

  test("checks the rules of valid settings beside invalid ones", () => {
    expect(problemsOf({ flags: { "min-wait": "20s", port: "x" } })).toEqual([
      'port: expected a whole number, 0 or more, got "x" (flag --port)',
      'min_wait: expected at most max_wait (10s), got "20s"',
    ]);
    expect(problemsOf({ flags: { "min-wait": "x", "max-wait": "1s" } })).toHaveLength(1);
  });

  test("an unreadable file is one problem among the others", () => {
    const sources = {
      typed: { values: { config: "none.yaml", port: "x" }, unknown: [], withoutValue: [], words: [] },
      environment: {},
      readFile: (path: string) => {
        throw new Error(`${path} is not there`);
      },
      rules: [],
      sharedFile: false,
    };
    expect(() => startSettings(table, sources)).toThrow(
      /^Cannot start: Cannot read settings file "none.yaml": none.yaml is not there; port: expected /,
    );
  });

  test("hides secret values, and escapes and cuts the rest", () => {
    expect(problemsOf({ flags: { url: "" } })).toEqual(['url: expected a text, got "…" (flag --url)']);
    const [problem = ""] = problemsOf({ flags: { port: `\u001b[2J${"9".repeat(500)}` } });
    expect(problem).toContain('got "\\u001b[2J999');
    expect(problem.length).toBeLessThan(200);
  });

  test("keys of other processes are wrong in a process's own file, not in a shared one", () => {
    const file = { retry_attempts: 3 };
    expect(problemsOf({ file })).toEqual(["retry_attempts: no such setting (settings file)"]);
    expect(problemsOf({ file, sharedFile: true })).toEqual([]);
    expect(problemsOf({ file: { retry_atempts: 3 }, sharedFile: true })).toEqual([
      "retry_atempts: no such setting (settings file); did you mean retry_attempts?",
    ]);
  });

  test.each([
    [{ MAX_INFLIGHT: "2" }, "max_inflight"],
    [{ WEIR_MAX_INFLIGHT: "2" }, "max_inflight"],
    [{ "max-inflight": "2" }, "max_inflight"],
    [{ max_inflght: "2" }, "max_inflight"],
    [{ max_infilght: "2" }, "max_inflight"],
    [{ WEIR_PORT: "2" }, "port"],
  ])("a variable with nearly the name of a setting is a warning: %j", (environment, meant) => {
    const [name = ""] = Object.keys(environment);
    expect(start({ environment }).warnings).toEqual([
      `Environment variable "${name}" is not read; did you mean "${meant}"?`,
    ]);
  });

  test("foreign variables, and those of other processes of Weir, are no warning", () => {
    const environment = { PORT: "1", HOST: "a", NAMES: "x", PATH: "/bin", retry_attempts: "1", UPSTREAM_TIMEOUT: "1s" };
    expect(start({ environment }).warnings).toEqual([]);
  });
});
