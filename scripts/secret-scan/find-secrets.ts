import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";

import { textsOfHistory } from "./git-blobs.ts";

const config = {
  rules: [
    {
      id: "@secretlint/secretlint-rule-preset-recommend",
      rule: creator,
      rules: [
        // Example domains (RFC 2606) belong to nobody.
        {
          id: "@secretlint/secretlint-rule-basicauth",
          options: { allows: ["/@(?:[^/@]+\\.)?example\\.(?:com|org|net)/"] },
        },
        // So do hosts without a dot, private addresses and this machine: tests of addresses are full of them.
        {
          id: "@secretlint/secretlint-rule-database-connection-string",
          options: {
            allows: [
              "/@[^@./\\s]*(?:[/?\"'`\\s]|$)/",
              "/@(?:[^/@]+\\.)?example\\b/",
              "/@(?:localhost|10\\.|127\\.|\\[)/",
            ],
          },
        },
      ],
    },
  ],
};

/** Something that looks like a secret: its place and the rule that matched, never the secret itself. */
export interface FoundSecret {
  readonly path: string;
  readonly line: number;
  /** Of the content, as git names it. */
  readonly id: string;
  readonly rule: string;
}

/** Searches the whole history of the repository in `directory`. */
export async function findSecrets(
  directory: string,
): Promise<{ readonly texts: number; readonly found: FoundSecret[] }> {
  const found: FoundSecret[] = [];
  let texts = 0;
  for await (const { id, path, text } of textsOfHistory(directory)) {
    texts += 1;
    const source = { filePath: path, content: text, contentType: "text" as const };
    const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
    for (const { loc, ruleId } of messages)
      found.push({ path, line: loc.start.line, id: id.slice(0, 12), rule: ruleId });
  }
  return { texts, found };
}
