import type { Properties } from "./property-values.ts";

/** What was made, or changed, and did not become what it shall be in time. */
export class StartFailed extends Error {
  override readonly name = "StartFailed";
  readonly id: string;
  readonly inputs: Properties;
  readonly outputs: Properties;

  constructor(
    message: string,
    made: { readonly id: string; readonly inputs: Properties; readonly outputs: Properties },
  ) {
    super(message);
    this.id = made.id;
    this.inputs = made.inputs;
    this.outputs = made.outputs;
  }
}
