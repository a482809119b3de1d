import { findSecrets } from "./find-secrets.ts";

/**
 * Searches everything ever committed to the repository of the working directory for secrets; exits with 1 if it finds
 * any.
 */
let code = 0;
try {
  const { texts, found } = await findSecrets(process.cwd());
  for (const { path, line, id, rule } of found) console.error(`${path}:${line} (blob ${id}): ${rule}`);
  code = found.length === 0 ? 0 : 1;
  if (code === 0) console.log(`No secret in the ${texts} texts of the history`);
  else console.error(`${found.length} of what was committed looks like secrets: revoke them, and rewrite the history`);
} catch (err) {
  console.error(`Cannot look through the history: ${err instanceof Error ? err.message : String(err)}`);
  code = 1;
}
// Exits at once: the library's profiler would process its marks for a minute.
process.exit(code);
