import { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import { ProjectFile } from "../../project/project-schema.ts";
import type { FieldSchema } from "./fit-schema.ts";

/** Fields by their names. */
export type FieldSchemas = Readonly<Record<string, FieldSchema>>;

/** The schema of weir.yaml, and of its parts, in the keywords that are read here. */
export const projectSchema = ProjectFile as unknown as FieldSchema;
export const projectFields: FieldSchemas = projectSchema.properties ?? {};
export const projectFunctionFields: FieldSchemas = fieldsOf(projectFields["functions"]?.additionalProperties);
export const buildSettingsFields: FieldSchemas = fieldsOf(projectFunctionFields["build"]);

/** Fields of a deployment. */
export const deploymentFields = FunctionDeployment.properties as unknown as Readonly<
  Record<keyof FunctionDeployment, FieldSchema>
>;

function fieldsOf(schema: FieldSchema | boolean | undefined): FieldSchemas {
  return typeof schema === "object" ? (schema.properties ?? {}) : {};
}
