import Type, { type Static } from "typebox";

/** `/system/info` (contract §2). */
export const SystemInfo = Type.Object({
  provider: Type.Object({ provider: Type.String(), orchestration: Type.String(), version: Type.String() }),
  version: Type.Object({ release: Type.String(), sha: Type.String(), commit_message: Type.String() }),
  arch: Type.String(),
  edition: Type.String(),
  apiVersion: Type.String(),
  functionNamespace: Type.String(),
  namespaceAliases: Type.Array(Type.String()),
  durability: Type.String({
    description: "What a crash of process or operating system can lose: interval, always, cluster",
  }),
});
export type SystemInfo = Readonly<Static<typeof SystemInfo>>;
