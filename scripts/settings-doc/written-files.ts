import { hostCommandLine } from "../../runtime/host/read-host-settings.ts";
import { helpText } from "../../runtime/process/command-line.ts";
import { formattedFile, type WrittenFile } from "../written-file.ts";
import { commandHelp } from "./command-help.ts";
import { allSettingNames } from "./processes.ts";
import { settingsPage } from "./settings-page.ts";

/** The expected files that are generated from the settings. */
export async function writtenFiles(): Promise<WrittenFile[]> {
  const names = allSettingNames()
    .map((name) => `"${name}",`)
    .join("\n");
  const list = `/** The names of all settings of all processes; written by \`npm run settings-doc\`. */\nexport const settingNames: readonly string[] = [\n${names}\n];\n`;
  // What `npm start -- --help` prints before anything is installed.
  const help = { path: "runtime/host/help.txt", text: helpText(hostCommandLine, false) };
  const helpAll = { path: "runtime/host/help-all.txt", text: helpText(hostCommandLine, true) };
  const formatted = [
    formattedFile("docs/reference/settings.md", settingsPage()),
    formattedFile("runtime/settings/setting-names.ts", list),
  ];
  return [help, helpAll, ...(await commandHelp("runtime/host/main.ts")), ...(await Promise.all(formatted))];
}
