import type { Properties } from "./property-values.ts";

/** A resource that was created or changed, but was not ready in time. */
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
