// An identity provider for tests. Whoever signs in is the person named in the login hint or the first argument; all are
// in the group eng. It prints its address. Arguments: person, port, more clients, seconds that access tokens last.
// Clients whose id begins with "page" show people a page with a button.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const person = process.argv[2] ?? 'alice';
const server = createServer();
await new Promise((done) => server.listen(Number(process.argv[3] ?? 0), '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    { client_id: 'console', client_secret: 'console-secret', redirect_uris: [], response_types: [], grant_types: ['client_credentials'], scope: 'mcp:tools' },
    ...JSON.parse(process.argv[4] ?? '[]'),
  ],
  scopes: ['openid', 'offline_access', 'mcp:tools'],
  claims: { openid: ['sub', 'groups', 'name'] },
  conformIdTokenClaims: false,
  findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, name: sub, groups: ['eng'] }) }),
  extraTokenClaims: (_ctx, token) => ({ groups: token.accountId ? ['eng'] : ['machines'] }),
  pkce: { required: () => true },
  issueRefreshToken: () => true,
  ttl: { AccessToken: Number(process.argv[5] ?? 3600), ClientCredentials: 600, Session: 3600, Grant: 3600, Interaction: 600, RefreshToken: 3600, IdToken: 3600 },
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, resource) => ({ audience: resource, scope: 'mcp:tools', accessTokenFormat: 'jwt' }),
    },
  },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
});

// The person agrees to everything, on a page where there is one.
provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next();
  const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res);
  if (params.client_id.startsWith('page') && ctx.method === 'GET') {
    ctx.type = 'html';
    ctx.body = '<!doctype html><title>Provider</title><form method="post"><button>Yes</button></form>';
    return undefined;
  }
  const result = {};
  if (prompt.name === 'login') result.login = { accountId: params.login_hint ?? person };
  if (prompt.name === 'consent') {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope ?? 'openid');
    for (const one of [params.resource].flat().filter(Boolean)) grant.addResourceScope(one, 'mcp:tools');
    result.consent = { grantId: await grant.save() };
  }
  return provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
});

server.on('request', provider.callback());
console.log(issuer);
