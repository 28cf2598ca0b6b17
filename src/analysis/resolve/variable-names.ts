/** What the name of a variable tells. */

/** What a bundler puts into the files that go to the browser. */
const buildPrefixes =
  'NEXT_PUBLIC_ VITE_ PUBLIC_ REACT_APP_ NUXT_PUBLIC_ GATSBY_ VUE_APP_ EXPO_PUBLIC_ STORYBOOK_ NG_APP_ PREACT_APP_ RAZZLE_ GRIDSOME_ SNOWPACK_PUBLIC_ WXT_ PLASMO_PUBLIC_ REDWOOD_ENV_ BUN_PUBLIC_'.split(
    ' ',
  );

export function isBuildVariable(key: string): boolean {
  return buildPrefixes.some((prefix) => key.startsWith(prefix));
}

const secretWords = new Set(
  'SECRET SECRETS PASSWORD PASSWD PASS PWD PASSPHRASE PASSCODE TOKEN TOKENS KEY KEYS APIKEY CREDENTIAL CREDENTIALS DSN PRIVATE SALT PEPPER'.split(
    ' ',
  ),
);
/** `TOKEN_EXPIRY` is a number, `KEY_PATH` a path. */
const harmlessEndings = new Set(
  `EXPIRY EXPIRES EXPIRE EXPIRATION EXP IN TTL LENGTH ROUNDS NAME HOST PORT ENABLED PATH FILE DIR TYPE ALGORITHM ALGO AGE
  LIFETIME ISSUER AUDIENCE MINUTES SECONDS HOURS DAYS MS LIMIT COUNT SIZE HEADER PREFIX PUBLIC USER EMAIL REGION VERSION
  TIME TIMEOUT ENDPOINT URL URI DURATION MODEL VALIDITY REQUIRED DOMAIN REALM PROVIDER FORMAT`.split(/\s+/),
);
/** `MAX_TOKENS` and `TOKENS_PER_MINUTE` are what a language model counts. */
const counting = new Set(['MAX', 'MIN', 'PER', 'TOTAL']);
/** What is long and by chance under such a name tells who or what somebody is, and is no secret. */
const publicEndings = new Set('ID IDS ADDRESS SHA COMMIT'.split(' '));
const serviceUrl =
  /^(?:.{0,40}_)?(?:DATABASE|DB|POSTGRES|POSTGRESQL|PG|MYSQL|MARIADB|MONGO|MONGODB|REDIS|VALKEY|KV|AMQP|RABBITMQ|CLOUDAMQP|DIRECT|SMTP|MAILER|BROKER|CELERY_BROKER|SQLALCHEMY_DATABASE)_?(?:URL|URI|CONNECTION_STRING)$/;

export function isSecretName(key: string): boolean {
  if (isBuildVariable(key)) return false;
  const name = key.toUpperCase();
  if (serviceUrl.test(name) || name.includes('CONNECTION_STRING') || name.includes('CONNECTIONSTRING'))
    return true;
  if (name.includes('WEBHOOK_URL')) return true;
  const words = name.split('_');
  const last = words.at(-1) ?? '';
  if (harmlessEndings.has(last) || /PUBLI(?:C|SHABLE)/.test(name)) return false;
  if (words.includes('TOKENS') && words.some((word) => counting.has(word))) return false;
  return words.some((word) => secretWords.has(word) || /(?:PASSWORD|SECRET|APIKEY|TOKEN)$/.test(word));
}

export function isPublicName(key: string): boolean {
  return !isSecretName(key) && publicEndings.has(key.toUpperCase().split('_').at(-1) ?? '');
}

export function hasCredentials(value: string | null): boolean {
  return value !== null && /^[a-z][a-z0-9+.-]{1,30}:\/\/[^/\s:@]{0,200}:[^/\s@]{1,200}@/i.test(value);
}

/** Ours to make: no third party has to know them. Every word must be of this kind, so STRIPE_SECRET_KEY is not. */
const ownWords = new Set(
  `APP APPLICATION SESSION SESSIONS JWT COOKIE COOKIES AUTH NEXTAUTH PAYLOAD SECRET SECRETS KEY KEYS BASE TOKEN REFRESH
  ACCESS CSRF XSRF ENCRYPTION ENCRYPT CRYPTO SIGNING SIGN HASH SALT PEPPER ADMIN API TRANSFER DJANGO FLASK LARAVEL BETTER
  NUXT HMAC IRON PASSWORD SYMFONY RAILS MASTERKEY SERVER EXPRESS NEST LOGIN PASSPHRASE STRAPI DIRECTUS KEYSTONE MEDUSA
  LIVE VIEW LIVEVIEW`.split(/\s+/),
);

export function isGenerated(key: string): boolean {
  const words = key.toUpperCase().split('_');
  if (!words.every((word) => ownWords.has(word))) return false;
  const has = (...some: readonly string[]) => some.some((word) => words.includes(word));
  if (has('SALT', 'PEPPER')) return true;
  if (has('API', 'ADMIN', 'SERVER', 'LOGIN') && !has('JWT', 'SESSION', 'COOKIE')) return false;
  if (has('SECRET', 'SECRETS')) return !(has('ACCESS') && has('KEY'));
  if (has('KEY', 'KEYS'))
    return has(
      'APP',
      'APPLICATION',
      'ENCRYPTION',
      'ENCRYPT',
      'SIGNING',
      'SESSION',
      'JWT',
      'COOKIE',
      'HASH',
      'HMAC',
    );
  return has('PASSWORD', 'PASSPHRASE') && has('SESSION', 'COOKIE', 'IRON', 'ENCRYPTION');
}
