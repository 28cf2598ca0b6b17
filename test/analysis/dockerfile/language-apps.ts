/** Small servers in languages whose packages the lab cannot fetch: each needs only what its language brings. */
import type { Files } from './lab-build.ts';

/** Apache with the rules of `.htaccess`, Composer's autoloader, and an extension that is not in the image. */
const php: Files = {
  'composer.json': JSON.stringify({
    name: 'lab/pages',
    repositories: [{ 'packagist.org': false }],
    require: { php: '^8.2', 'ext-bcmath': '*' },
    autoload: { 'psr-4': { 'Lab\\': 'src/' } },
  }),
  'public/.htaccess': 'RewriteEngine On\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule ^ index.php [L]\n',
  'public/index.php': `<?php
require __DIR__ . '/../vendor/autoload.php';
header('content-type: application/json');
echo json_encode(Lab\\Page::shown($_SERVER['REQUEST_URI']));
`,
  'src/Page.php': `<?php
namespace Lab;

class Page
{
    public static function shown(string $path): array
    {
        return ['path' => $path, 'sum' => bcadd('1', '2'), 'user' => posix_getuid()];
    }
}
`,
};

const ruby: Files = {
  Gemfile: 'source "https://rubygems.org"\n',
  'Gemfile.lock': 'GEM\n  remote: https://rubygems.org/\n  specs:\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n',
  '.ruby-version': '3.3\n',
  'server.rb': `require "json"
require "socket"

server = TCPServer.new("0.0.0.0", Integer(ENV.fetch("PORT", "3000")))
trap("TERM") { exit(0) }
loop do
  Thread.new(server.accept) do |client|
    path = client.gets.to_s.split[1]
    body = JSON.generate({ path: path, env: ENV["RACK_ENV"] })
    client.write("HTTP/1.1 200 OK\\r\\ncontent-length: #{body.bytesize}\\r\\nconnection: close\\r\\n\\r\\n#{body}")
    client.close
  end
end
`,
};

const java: Files = {
  'pom.xml': `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>lab</groupId>
  <artifactId>pages</artifactId>
  <version>1.0</version>
  <properties>
    <maven.compiler.release>21</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-jar-plugin</artifactId>
        <configuration>
          <archive><manifest><mainClass>lab.Main</mainClass></manifest></archive>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
`,
  'src/main/java/lab/Main.java': `package lab;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Main {
  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext("/", exchange -> {
      byte[] body = ("{\\"path\\":\\"" + exchange.getRequestURI().getPath() + "\\"}").getBytes();
      exchange.sendResponseHeaders(200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
  }
}
`,
};

export const languageApps = { php, ruby, java } as const;
