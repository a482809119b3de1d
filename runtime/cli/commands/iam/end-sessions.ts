import { readOne } from "../../client/read-reply.ts";
import { endedSessionsReply } from "../../client/reply-kinds.ts";
import { CliError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { escapeLine } from "../../output/escape-text.ts";

/** Options of `weir iam sessions end`. */
interface EndOptions {
  readonly subject?: string;
  readonly issuer?: string;
}

/** `weir iam sessions end`. */
export const endSessions: CommandSpec<EndOptions> = {
  about:
    "Signs somebody out of the console: one session by its id, or all of a subject. The exit code is 3 if there was none. It needs Session:Delete.",
  arguments: [{ name: "[id]", about: "id of a session, as the list has it" }],
  options: [
    { flags: "--subject <subject>", about: "all sessions of this subject, as in fed:alice" },
    { flags: "--issuer <address>", about: "only those of this issuer" },
  ],
  groups: ["gateway", "output"],
  examples: [{ line: "weir iam sessions end --subject fed:alice || true", about: "Everything that alice has open" }],
  run: async (context, { subject, issuer }, [id]) => {
    if ((id === undefined) === (subject === undefined))
      throw new CliError(exitCode.usage, "Cannot end sessions: give one of an id and --subject");
    const json = { id, subject, issuer };
    const reply = await readOne(await context.gateway(), "/system/sessions", endedSessionsReply, {
      method: "DELETE",
      json,
    });
    await context.output.value(reply, {
      text: () => reply.ended.map((one) => `ended ${one.id} of ${escapeLine(one.name ?? one.subject)}\n`).join(""),
      name: reply.ended.map((one) => one.id).join(" "),
    });
    if (reply.ended.length === 0)
      throw new CliError(exitCode.notFound, `Cannot end sessions of "${id ?? subject}": there is none`);
  },
};
