import type { CommandSpec } from "../../command-spec.ts";
import { completionScript, shells } from "../../completion/completion-script.ts";

/** `weir completion`. */
export const printCompletion: CommandSpec = {
  about:
    "Prints the script that makes a shell complete commands, options, and names of functions, namespaces, secrets, queues and contexts.",
  arguments: [{ name: "<shell>", about: "for which shell", choices: shells }],
  groups: [],
  examples: [
    { line: "weir completion bash", about: 'In ~/.bashrc: eval "$(weir completion bash)"' },
    { line: "weir completion zsh", about: "To a file _weir in a directory of $fpath" },
    { line: "weir completion fish", about: "To ~/.config/fish/completions/weir.fish" },
  ],
  run: async ({ output }, _options, [name]) => {
    const shell = shells.find((each) => each === name) ?? "bash";
    await output.write(completionScript[shell]);
  },
};
