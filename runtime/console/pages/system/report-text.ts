import type { DoctorReport } from "../../../api/schemas/doctor-report.ts";
import type { SystemInfo } from "../../../api/schemas/system-info.ts";

/** What is told of a platform to others: no name, address or value that a secret could stand in. */
export function systemReport(info: SystemInfo | undefined, { checkedAt, parts, findings }: DoctorReport): string {
  const lines = [
    `Weir ${info?.version.release ?? "of an unknown release"}, checked ${checkedAt}`,
    ...(info === undefined
      ? []
      : [
          `provider ${info.provider.provider} (${info.provider.orchestration}), edition ${info.edition}, ` +
            `durability ${info.durability}, ${info.arch}, API ${info.apiVersion}, commit ${info.version.sha}`,
        ]),
    "",
    "Parts",
    ...parts.map(({ part, node, release, replicas, ready }) =>
      [
        `  ${part}`,
        `${ready} of ${replicas} ready`,
        ...(node === undefined ? [] : [node]),
        ...(release === undefined ? [] : [release]),
      ].join(", "),
    ),
    "",
    "Findings",
    ...findings.map(({ id, level, subject, sentence, advice }) =>
      [`  ${level} ${id} (${subject}): ${sentence}`, ...(advice === undefined ? [] : [`    ${advice}`])].join("\n"),
    ),
  ];
  return `${lines.join("\n")}\n`;
}
