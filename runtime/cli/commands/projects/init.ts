import { basename, relative, resolve } from "node:path";

import { grammarRule, isFunctionName } from "../../../api/grammar.ts";
import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { readTemplate, templateNames, type TemplateName } from "../../project/template-files.ts";

interface InitOptions {
  readonly template?: TemplateName;
  readonly name?: string;
}

/** `weir init`. */
export const initProject: CommandSpec<InitOptions> = {
  about:
    "Creates a function of your own from a template: weir.yaml, a program, Dockerfile and test. Existing files are never overwritten.",
  arguments: [{ name: "[folder]", about: "where it is created; here by default" }],
  options: [
    { flags: "--template <name>", about: "what it is written in; asked for on a terminal", choices: templateNames },
    { flags: "--name <name>", about: "name of the function; that of the folder by default" },
  ],
  groups: [],
  examples: [
    { line: "weir init hello --template node", about: "A function in Node.js, in the new folder hello" },
    { line: "weir init worker --template shell --name nightly", about: "A shell script, as function nightly" },
  ],
  run: async (context, { template, name }, [folder = "."]) => {
    const { terminal, output } = context;
    const directory = resolve(terminal.directory, folder);
    const functionName = name ?? basename(directory);
    if (!isFunctionName(functionName))
      throw usageError(
        `Cannot create "${functionName}": ${grammarRule.function}${name === undefined ? "; name it with --name" : ""}`,
      );
    const chosen = template ?? (await askTemplate(context, functionName));
    const { createProject } = await import("./create-project.ts");
    const files = await readTemplate(chosen, functionName);
    await createProject({ directory, name: functionName, files }, terminal.directory, terminal.signal);
    output.note(`Created "${functionName}": ${files.map(({ path }) => path).join(", ")}`);
    const next = chosen === "dockerfile" ? "weir up" : "weir dev";
    const { quote } = await import("shlex");
    const into = relative(terminal.directory, directory);
    output.note(`Next: ${into === "" ? "" : `cd ${quote(into)} && `}${next}`);
  },
};

async function askTemplate({ mayAsk, terminal }: CommandContext, name: string): Promise<TemplateName> {
  if (!mayAsk) {
    const named = `${templateNames.slice(0, -1).join(", ")} or ${templateNames.at(-1)}`;
    throw usageError(`Cannot create "${name}": no template is named; say --template ${named}`);
  }
  const { askChoice } = await import("../../output/ask.ts");
  return askChoice("What is it written in?", templateNames, terminal.signal);
}
