import type { CommandEntry, CommandSpec, OptionGroup, OptionSpec } from "../../runtime/cli/command-spec.ts";
import { commandTree } from "../../runtime/cli/command-tree.ts";
import { commonOptions, groupOptions } from "../../runtime/cli/shared-options.ts";
import { formattedFile, type WrittenFile } from "../written-file.ts";

/** A command with all its words, as in `secrets create`. */
interface NamedCommand {
  readonly words: string;
  readonly aliases: readonly string[];
  readonly spec: CommandSpec<never>;
}

const head = `# The command \`weir\`

Written by \`npm run cli-doc\` from \`runtime/cli/commands\`; change it there. \`weir <command> --help\` shows the same.

## Which gateway, whose credentials

The first that says something decides, for the gateway and for the credentials apart:

| Gateway                                                            | Credentials                                                                                                  |
| ------------------------------------------------------------------ | ------------------------------------------------------------------------------------------------------------ |
| \`--gateway\`                                                        | \`--user\` with \`--password-file\` or \`--password-stdin\`; \`--token-file\`                                        |
| \`--context\`, \`WEIR_CONTEXT\`                                        | \`WEIR_TOKEN\`; \`WEIR_USER\` with \`WEIR_PASSWORD_FILE\`; not for a gateway that only \`weir.yaml\` names             |
| \`WEIR_GATEWAY\`                                                     | those that \`weir login\` stored for exactly this address                                                      |
| \`gateway\` of \`weir.yaml\`                                           | of a gateway on this machine: those in \`.weir\` of this directory or one above, if you own it                 |
| a Weir that was started in this directory or one above (\`.weir/address\`) |                                                                                                        |
| the current context, \`OPENFAAS_URL\`, \`http://127.0.0.1:8080\`       |                                                                                                              |

Credentials are sent over \`https\`, or to this machine, unless \`--insecure-http\` is given. \`HTTP_PROXY\`, \`HTTPS_PROXY\` and \`NO_PROXY\` are followed, but
never for this machine.

## Output and exit codes

Results go to stdout, all else to stderr. \`-o json\` is the API's own JSON, one document; streams are a JSON document on each line. Without a terminal
nothing is asked: the option that answers is named instead.

| Exit code | Means                                                                      |
| --------- | -------------------------------------------------------------------------- |
| 0         | done                                                                       |
| 1         | refused or failed; not ready; a build failed                               |
| 2         | the command line or a file is wrong; nothing was sent                      |
| 3         | not found                                                                  |
| 4         | credentials are missing, wrong or not enough                               |
| 5         | out of reach, TLS, too many calls (429), unavailable (503)                 |
| 6         | the time is over; it may still happen                                      |
| 7         | the function replied 400 or more, or the call ended \`failed\` or \`cancelled\` |
| 70        | a defect of this program                                                   |
| 130       | Ctrl-C                                                                     |
`;

const groupTitles: Readonly<Record<OptionGroup, string>> = {
  gateway: "Commands that speak to a gateway",
  namespace: "Commands that work in a namespace",
  output: "Commands with a result in several formats",
  confirm: "Commands that ask before something is lost",
};

/** The page of the command line. */
export async function cliPage(): Promise<WrittenFile> {
  const commands = (await Promise.all(commandTree.map((entry) => namedCommands(entry, "")))).flat();
  const text = [head, sharedSection(), ...commands.map(commandSection)].join("\n");
  return await formattedFile("docs/cli.md", text);
}

async function namedCommands(entry: CommandEntry, above: string): Promise<NamedCommand[]> {
  const words = `${above} ${entry.name}`.trimStart();
  const inner = await Promise.all((entry.commands ?? []).map((each) => namedCommands(each, words)));
  if (entry.load === undefined) return inner.flat();
  return [{ words, aliases: entry.aliases ?? [], spec: await entry.load() }, ...inner.flat()];
}

function sharedSection(): string {
  const groups = Object.entries(groupTitles) as [OptionGroup, string][];
  const parts = groups.map(([group, title]) => `${title}:\n\n${optionTable(groupOptions[group])}`);
  return `## Options of many commands\n\nEvery command:\n\n${optionTable(commonOptions)}\n${parts.join("\n")}`;
}

function commandSection({ words, aliases, spec }: NamedCommand): string {
  const usage = [`weir ${words}`, "[options]", ...(spec.arguments ?? []).map(({ name }) => name)].join(" ");
  const also = aliases.length === 0 ? "" : ` Also: ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`;
  const args = (spec.arguments ?? []).map(({ name, about }) => `| \`${name}\` | ${cell(about)} |\n`).join("");
  return [
    `## \`weir ${words}\`\n\n${spec.about}${also}\n\n\`\`\`text\n${usage}\n\`\`\`\n`,
    args === "" ? "" : `| Argument | Is |\n| --- | --- |\n${args}`,
    spec.options === undefined ? "" : optionTable(spec.options),
    spec.examples.map(({ line, about }) => `${about}:\n\n\`\`\`text\n${line}\n\`\`\`\n`).join("\n"),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(({ flags, about, fallback, choices }) => {
    const values = choices === undefined ? "" : `: ${choices.map((choice) => `\`${choice}\``).join(", ")}`;
    const unless = fallback === undefined || fallback === false ? "" : ` (\`${String(fallback)}\`)`;
    return `| \`${cell(flags)}\` | ${cell(about)}${values}${unless} |\n`;
  });
  return `| Option | Does |\n| --- | --- |\n${rows.join("")}`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
