import type { IamDocument } from "../../../api/iam/iam-document.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { judgeRules } from "../../iam/judge-rules.ts";
import { readRules } from "../../iam/read-rules.ts";
import { counted } from "../../output/counted.ts";

interface CheckOptions {
  readonly strict?: boolean;
}

/** `weir iam check`. */
export const checkRules: CommandSpec<CheckOptions> = {
  about:
    "Checks JwtIssuers, Policies and Roles in YAML files, all of them together and without a gateway: what a gateway would leave out, and rules that are hardly meant. It ends with 1 if there is any problem; warnings do not count.",
  arguments: [{ name: "<path...>", about: "files, or directories of *.yaml and *.yml files" }],
  options: [{ flags: "--strict", about: "exit code 1 for warnings, too" }],
  groups: ["output"],
  examples: [
    { line: "weir iam check iam/", about: "A line for each finding, with file and line" },
    {
      line: "weir iam check iam/roles.yaml iam/policies.yaml --strict",
      about: "In a pipeline, before rules are applied",
    },
  ],
  run: async ({ output, terminal }, { strict = false }, paths) => {
    const { documents, faults, files } = await readRules(paths, terminal.directory);
    const findings = judgeRules(documents, faults);
    await output.list({
      rows: findings,
      columns: [
        { title: "LEVEL", cell: ({ level }) => level, state: true },
        { title: "PLACE", cell: ({ place = "" }) => place },
        { title: "SUBJECT", cell: ({ subject }) => subject },
        { title: "FINDING", cell: ({ sentence }) => sentence },
      ],
      name: ({ place, subject }) => place ?? subject,
    });
    output.note(`${counted(files, "file")}: ${kindCounts(documents)}`);
    const refused = findings.filter(({ level }) => strict || level === "problem").length;
    if (refused > 0) throw new CliError(exitCode.failed, `Found ${counted(refused, strict ? "finding" : "problem")}`);
  },
};

function kindCounts(documents: readonly IamDocument[]): string {
  const count = (wanted: IamDocument["kind"]): number => documents.filter(({ kind }) => kind === wanted).length;
  const [issuers, policies, roles] = [count("JwtIssuer"), count("Policy"), count("Role")];
  return `${counted(issuers, "JwtIssuer")}, ${policies} ${policies === 1 ? "Policy" : "Policies"}, ${counted(roles, "Role")}`;
}
