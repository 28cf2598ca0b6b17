/** The languages beside JavaScript. */
import type { Case } from './cases.ts';

export const cases: readonly Case[] = [
  {
    name: 'python-pip',
    app: {
      language: 'python',
      framework: 'fastapi',
      packageManager: { name: 'pip', version: null, lockFile: null },
      versions: { python: '3.12.4' },
      installCommand: 'pip install -r requirements.txt',
      startCommand: 'uvicorn main:app --host 0.0.0.0 --port $PORT',
      port: 8000,
    },
    files: { 'requirements.txt': '-r base.txt\nfastapi\n', 'base.txt': 'uvicorn\n', 'main.py': '' },
  },
  {
    name: 'python-django-poetry',
    app: {
      language: 'python',
      framework: 'django',
      packageManager: { name: 'poetry', version: null, lockFile: 'poetry.lock' },
      installCommand: 'poetry install --only main --no-root',
      buildCommand: 'poetry run python manage.py collectstatic --noinput',
      startCommand: 'poetry run gunicorn shop.wsgi --bind 0.0.0.0:$PORT',
      volumes: ['data'],
    },
    files: {
      'pyproject.toml':
        '[tool.poetry]\nname = "shop"\n[tool.poetry.dependencies]\npsycopg2 = "^2.9"\n[build-system]\n',
      'poetry.lock': '',
      'manage.py': '',
    },
  },
  {
    name: 'python-uv',
    app: {
      language: 'python',
      packageManager: { name: 'uv', version: '0.5.1', lockFile: 'uv.lock' },
      installCommand: 'uv sync --frozen --no-dev',
      startCommand: 'uv run python -m shop',
    },
    files: {
      'pyproject.toml': '[project]\nname = "shop"\n[build-system]\nrequires = ["hatchling"]\n',
      'uv.lock': '',
    },
  },
  {
    name: 'python-pipenv',
    app: {
      language: 'python',
      packageManager: { name: 'pipenv', version: null, lockFile: 'Pipfile.lock' },
      installCommand: 'pipenv install --deploy',
      startCommand: 'python app.py',
    },
    files: { Pipfile: '[packages]\n', 'Pipfile.lock': {} },
  },
  {
    name: 'python-pdm',
    app: {
      language: 'python',
      packageManager: { name: 'pdm', version: null, lockFile: 'pdm.lock' },
      installCommand: 'pdm install --prod --frozen-lockfile',
      startCommand: 'python app.py',
    },
    files: { 'pyproject.toml': '[project]\nname = "shop"\n', 'pdm.lock': '' },
  },
  {
    name: 'go',
    app: {
      language: 'go',
      packageManager: { name: 'go', version: null, lockFile: 'go.sum' },
      versions: { go: '1.24' },
      installCommand: 'go mod download',
      buildCommand: 'go build -o bin/ ./cmd/server ./cmd/worker',
      startCommand: './bin/server --listen :$PORT',
      processes: [{ name: 'worker', kind: 'worker', command: './bin/worker', schedule: null }],
      port: 8080,
      healthPath: '/healthz',
    },
    files: {
      'go.mod': 'module shop\n',
      'go.sum': '',
      'cmd/server/main.go': '',
      'templates/index.html': '',
      'docs/a.md': '',
    },
  },
  {
    name: 'go-run-with-cgo',
    app: { path: 'api', language: 'go', startCommand: 'go run ./cmd/api serve', versions: { go: '1.23.4' } },
    files: { 'api/go.mod': 'require github.com/mattn/go-sqlite3 v1.14.22\n', 'api/cmd/api/main.go': '' },
  },
  {
    name: 'rust-workspace',
    app: {
      path: 'server',
      language: 'rust',
      packageManager: { name: 'cargo', version: null, lockFile: 'Cargo.lock' },
      buildCommand: 'cargo build --release --package server',
      startCommand: 'ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT ./target/release/server',
      port: 8000,
    },
    monorepo: { kind: 'cargo', tool: null, members: ['server', 'shared'] },
    files: {
      'Cargo.toml': '',
      'Cargo.lock': '[[package]]\nname = "openssl-sys"\n',
      'server/Cargo.toml': '',
      'server/templates/a.html': '',
    },
  },
  {
    name: 'java-maven',
    app: {
      language: 'java',
      framework: 'spring-boot',
      packageManager: { name: 'maven', version: null, lockFile: null },
      versions: { java: '21' },
      buildCommand: './mvnw -DskipTests package',
      startCommand: 'java -jar target/*.jar',
      port: 8080,
      healthPath: '/actuator/health',
    },
    files: { 'pom.xml': '', mvnw: '' },
  },
  {
    name: 'kotlin-gradle',
    app: {
      language: 'kotlin',
      packageManager: { name: 'gradle', version: null, lockFile: null },
      versions: { java: '17' },
      buildCommand: 'gradle build -x test',
      startCommand: 'java -jar build/libs/shop-1.0.jar --port=$PORT',
    },
    files: { 'build.gradle.kts': '' },
  },
  {
    name: 'php-laravel',
    app: {
      language: 'php',
      framework: 'laravel',
      packageManager: { name: 'composer', version: null, lockFile: 'composer.lock' },
      versions: { php: '8.3' },
      installCommand: 'composer install --no-dev',
      buildCommand: 'npm run build',
      startCommand: 'php artisan serve --host=0.0.0.0 --port=$PORT',
    },
    files: {
      'composer.json': { require: { php: '^8.3', 'ext-gd': '*' } },
      'composer.lock': {},
      'package.json': { scripts: { build: 'vite build' } },
      'package-lock.json': {},
      artisan: '',
      'public/index.php': '',
    },
  },
  {
    name: 'php-plain',
    app: { language: 'php', startCommand: 'php -S 0.0.0.0:$PORT' },
    files: { 'index.php': '' },
  },
  {
    name: 'ruby-rails',
    app: {
      language: 'ruby',
      framework: 'rails',
      packageManager: { name: 'bundler', version: null, lockFile: 'Gemfile.lock' },
      versions: { ruby: '3.3' },
      installCommand: 'bundle install',
      buildCommand: 'bundle exec rails assets:precompile',
      startCommand: 'bundle exec puma -C config/puma.rb',
      releaseCommand: 'bundle exec rails db:migrate',
      healthPath: '/up',
    },
    files: { Gemfile: '', 'Gemfile.lock': 'GEM\n  specs:\n    pg (1.5.9)\n', '.ruby-version': '3.3' },
  },
  {
    name: 'ruby-jekyll',
    app: {
      language: 'ruby',
      framework: 'jekyll',
      packageManager: { name: 'bundler', version: null, lockFile: 'Gemfile.lock' },
      installCommand: 'bundle install',
      buildCommand: 'bundle exec jekyll build',
      staticOutput: { directory: '_site', isSinglePage: false },
    },
    files: { Gemfile: '', 'Gemfile.lock': '' },
  },
  {
    name: 'dotnet',
    app: {
      language: 'csharp',
      framework: 'aspnet',
      packageManager: { name: 'nuget', version: null, lockFile: null },
      versions: { dotnet: '9' },
      startCommand: 'dotnet out/Shop.dll',
    },
    files: {
      'Shop/Shop.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
      'Shop.Tests/Shop.Tests.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
    },
  },
  {
    name: 'dotnet-older-target',
    app: {
      language: 'csharp',
      framework: 'aspnet',
      packageManager: { name: 'nuget', version: null, lockFile: null },
      versions: { dotnet: '9.0.203' },
      startCommand: 'dotnet out/Shop.dll',
    },
    files: {
      'global.json': '{"sdk":{"version":"9.0.203"}}',
      'Shop.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>',
    },
  },
  {
    name: 'elixir-phoenix',
    app: {
      language: 'elixir',
      framework: 'phoenix',
      packageManager: { name: 'mix', version: null, lockFile: 'mix.lock' },
      versions: { elixir: '1.17' },
      startCommand: 'mix phx.server',
      port: 4000,
    },
    files: {
      'mix.exs': 'def project do [app: :shop, aliases: ["assets.deploy": []]] end',
      'mix.lock': '',
      'config/prod.exs': '',
      'assets/app.js': '',
    },
  },
  {
    name: 'static-plain',
    app: { language: 'html', staticOutput: { directory: '.', isSinglePage: false } },
    files: { 'index.html': '', '404.html': '' },
  },
  {
    name: 'static-hugo',
    app: {
      path: 'site',
      language: 'html',
      framework: 'hugo',
      buildCommand: 'hugo --minify',
      staticOutput: { directory: 'public', isSinglePage: false },
    },
    files: { 'site/hugo.toml': '' },
  },
  {
    name: 'generic-crystal',
    app: {
      language: 'crystal',
      installCommand: 'shards install --production',
      buildCommand: 'crystal build --release -o server src/app.cr',
      startCommand: './server --port $PORT',
    },
    files: { 'shard.yml': '' },
  },
];
