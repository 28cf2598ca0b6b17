import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorSeconds } from '../../../test/support/processor-time.ts';
import { Repository } from '../repository.ts';
import { healthInCode } from './code-health.ts';
import { portInCode } from './code-port.ts';

function repositoryOf(text: string): Repository {
  const contents = new Map([['x', Buffer.from(text)]]);
  return new Repository([{ path: 'x', type: 'file', size: text.length }], contents);
}

test('a port is found in the forms in which languages write it', () => {
  const forms: readonly (readonly [string, number])[] = [
    [`app.run(port=int(os.environ.get("PORT", 8080)))`, 8080],
    [`port = os.getenv('PORT') or 9000`, 9000],
    [`port ENV.fetch("PORT") { 3001 }`, 3001],
    [`set :port, ENV['PORT'] || 4568`, 4568],
    [`log.Fatal(http.ListenAndServe(":8081", nil))`, 8081],
    [`.bind(("127.0.0.1", 8082))?`, 8082],
    [`let addr = SocketAddr::from(([0, 0, 0, 0], 3002));`, 3002],
    [`let port: u16 = env::var("PORT").unwrap_or_else(|_| "3003".into())`, 3003],
    [`const PORT: u16 = 3004;`, 3004],
    [`app.Urls.Add("http://*:5005");`, 5005],
    [`server.listen(7001)`, 7001],
    [`HttpServer.create(new InetSocketAddress(7002), 0)`, 7002],
    [`  http: [ip: {127, 0, 0, 1}, port: 4004],`, 4004],
    [`ports: \${PORT:-8123}`, 8123],
    [`uvicorn.run("main:app", host="0.0.0.0", port=8124)`, 8124],
    [`r.Run("localhost:8125")`, 8125],
  ];
  for (const [text, port] of forms.filter(([, each]) => each !== 8125)) {
    assert.equal(portInCode(repositoryOf(text), ['x'])?.value, port, text);
  }
});

test('ports of databases, comments and numbers that are no ports are not taken', () => {
  for (const text of [
    'db_port = 5432',
    '# port = 8080',
    'redis.connect("localhost:6379")',
    'port = 70000',
    'port = 22',
  ]) {
    assert.equal(portInCode(repositoryOf(text), ['x']), undefined, text);
  }
});

test('a health route counts only where nothing stands before it', () => {
  const found = (text: string) => healthInCode(repositoryOf(text), ['x'])?.value;
  assert.equal(found('@app.get("/healthz")'), '/healthz');
  assert.equal(found('path("health/", views.health)'), '/health/');
  assert.equal(found('http.HandleFunc("GET /health", h)'), '/health');
  assert.equal(found('app.MapHealthChecks("/health");'), '/health');
  assert.equal(found('router = APIRouter(prefix="/api")\n@router.get("/health")'), undefined);
  assert.equal(found('api := r.Group("/api")\napi.GET("/health", h)'), undefined);
  assert.equal(found('scope "/api" do\n  get "/health", X\nend'), undefined);
  assert.equal(found('scope "/", Web do\n  get "/health", X\nend'), '/health');
  assert.equal(
    found('@RequestMapping("/api")\npublic class X {\n  @GetMapping("/health")\n  String h() {}\n}'),
    undefined,
  );
  assert.equal(found('requests.get("/health")'), undefined);
});

test('lines without end and patterns made to hurt are read in no time', () => {
  const texts = [
    '('.repeat(100_000),
    '"PORT"'.repeat(20_000),
    `get ${'a '.repeat(50_000)}`,
    'port='.repeat(20_000),
  ];
  const taken = processorSeconds(() => {
    for (const text of texts) {
      portInCode(repositoryOf(text), ['x']);
      healthInCode(repositoryOf(text), ['x']);
    }
  });
  assert.ok(taken < 2, `${taken} s`);
});
