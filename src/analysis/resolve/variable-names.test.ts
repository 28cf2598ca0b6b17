import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isGivenByPlatform } from './platform-names.ts';
import { hasCredentials, isBuildVariable, isGenerated, isSecretName } from './variable-names.ts';

function judge(is: (key: string) => boolean, yes: string, no: string): void {
  for (const key of yes.split(' ')) assert.ok(is(key), key);
  for (const key of no.split(' ')) assert.ok(!is(key), key);
}

test('a name tells a secret from what only speaks of one', () => {
  judge(
    isSecretName,
    'API_KEY STRIPE_SECRET_KEY DB_PASSWORD GITHUB_TOKEN DATABASE_URL REDIS_URL MONGODB_URI SENTRY_DSN SECRET_KEY_BASE APIKEY AWS_ACCESS_KEY_ID BOT_TOKENS',
    'API_URL TOKEN_EXPIRY PASSWORD_MIN_LENGTH NEXT_PUBLIC_API_KEY STRIPE_PUBLISHABLE_KEY KEY_PATH LOG_LEVEL JWT_EXPIRES_IN MAX_TOKENS LLM_MAX_TOKENS TOKENS_PER_MINUTE TOKEN_MODEL',
  );
});

test('what we can make ourselves is told from what a third party gives', () => {
  judge(
    isGenerated,
    'APP_KEY SECRET_KEY_BASE SESSION_SECRET JWT_SECRET NEXTAUTH_SECRET AUTH_SECRET COOKIE_SECRET APP_KEYS API_TOKEN_SALT ADMIN_JWT_SECRET REFRESH_TOKEN_SECRET DJANGO_SECRET_KEY BETTER_AUTH_SECRET ENCRYPTION_KEY NUXT_SESSION_PASSWORD',
    'STRIPE_SECRET_KEY API_KEY GITHUB_CLIENT_SECRET SECRET_ACCESS_KEY RAILS_MASTER_KEY ADMIN_PASSWORD OPENAI_API_KEY DB_PASSWORD',
  );
});

test('prefixes of bundlers mean the build, names of platforms nobody', () => {
  judge(
    isBuildVariable,
    'NEXT_PUBLIC_A VITE_A REACT_APP_A NUXT_PUBLIC_A GATSBY_A PUBLIC_A',
    'NEXT_A MY_VITE_A',
  );
  judge(
    isGivenByPlatform,
    'PORT NODE_ENV CI HOST VERCEL_URL RAILWAY_STATIC_URL npm_package_version VERCEL_GIT_COMMIT_SHA NEXT_PUBLIC_VERCEL_URL',
    'PORTAL_URL APP_HOST DATABASE_URL VERCEL_TOKEN RENDER_API_KEY FLY_API_TOKEN NETLIFY_AUTH_TOKEN RAILWAY_TOKEN HEROKU_API_KEY KUBERNETES_TOKEN MY_VERCEL_URL',
  );
});

test('an address with a password in it is a secret whatever its name', () => {
  assert.ok(hasCredentials('amqp://user:pass@host/x'));
  assert.ok(!hasCredentials('https://example.com/a:b@c'));
  assert.ok(!hasCredentials(null));
});
