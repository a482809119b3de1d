import Type, { type Static } from "typebox";

const text = (description: string, example: string) => Type.String({ minLength: 1, description, examples: [example] });

/** An issuer that people sign in with on the command line: a public client, with PKCE (`iam.md` §5). */
export const SignInIssuer = Type.Object(
  {
    name: text("Name of the JwtIssuer", "company"),
    issuer: text("Its address", "https://issuer.example.com"),
    clientId: text("The platform's client at the issuer, which has no secret", "weir"),
    scopes: Type.Array(Type.String(), {
      description: "What is asked of the issuer beside openid",
      examples: [["groups", "offline_access"]],
    }),
  },
  {
    title: "SignInIssuer",
    description: "An issuer that people sign in with on the command line",
    examples: [
      {
        name: "company",
        issuer: "https://issuer.example.com",
        clientId: "weir",
        scopes: ["groups", "offline_access"],
      },
    ],
  },
);
export type SignInIssuer = Readonly<Static<typeof SignInIssuer>>;

/** Member of `/.well-known/openid-configuration` that lists them, sorted by name. */
export const signInMember = "weir_sign_in";
