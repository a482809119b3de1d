import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";

/** The error for a gateway of an edition without identity and access. */
export function noIam(what: string): CliError {
  return new CliError(exitCode.credentials, `${what}: this gateway has no IAM`);
}
