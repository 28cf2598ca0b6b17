/** Manifests that are programs or have a grammar of their own, read a line at a time for the names in them. */

const mostLines = 5_000;
const longestLine = 500;

/** One name a line at most; what is for tests or development is left out as far as the line or its block says so. */
export function dependencyLines(file: string, text: string): readonly string[] {
  const lines = text
    .slice(0, 512 * 1024)
    .split('\n', mostLines)
    .map((line) => line.slice(0, longestLine).trim());
  if (file.startsWith('requirements')) return lines.flatMap(requirement);
  if (file === 'go.mod') return lines.flatMap(goModule);
  if (file === 'Gemfile' || file === 'gems.rb') return gems(lines);
  if (file === 'pom.xml') return mavenArtifacts(text.slice(0, 512 * 1024));
  if (/gradle|libs\.versions/.test(file)) return lines.flatMap(gradleLine);
  if (/\.(?:csproj|fsproj|props)$/.test(file))
    return lines.flatMap((line) => match(line, /<PackageReference\s[^>]{0,200}?Include="([^"]{1,200})"/));
  if (file === 'mix.exs') return lines.flatMap(mixLine);
  if (file === 'build.sbt')
    return lines.flatMap((line) =>
      /%\s*"?Test\b|% "test"/.test(line) ? [] : match(line, /"[\w.-]{1,200}"\s*%{1,3}\s*"([\w.-]{1,200})"/),
    );
  if (/project\.clj|deps\.edn/.test(file))
    return lines.flatMap((line) =>
      line.startsWith(';')
        ? []
        : match(line, /^[\s:\w{[]{0,40}?([\w.-]{1,100}\/[\w.-]{1,100}|[\w-]{3,60})[\s"]/),
    );
  if (file === 'Package.swift')
    return lines.flatMap((line) =>
      match(line, /\.package\([^)]{0,200}?url:\s*"[^"]{1,200}\/([\w.-]{1,100}?)(?:\.git)?"/),
    );
  if (file === 'cpanfile') return lines.flatMap((line) => match(line, /^requires\s+['"]([\w:]{1,100})/));
  return lines.flatMap(quotedName);
}

function match(line: string, pattern: RegExp): string[] {
  const found = pattern.exec(line)?.[1];
  return found === undefined ? [] : [found];
}

function requirement(line: string): string[] {
  return match(line, /^([A-Za-z0-9][\w.-]{0,100}(?:\[[\w,. -]{1,100}\])?)/);
}

function goModule(line: string): string[] {
  return line.includes('// indirect')
    ? []
    : match(line, /^(?:require\s+)?([\w-]{1,60}\.[\w.~/-]{1,200})\s+v\d/);
}

/** Inside `group :development do … end` nothing counts. */
function gems(lines: readonly string[]): string[] {
  const found: string[] = [];
  let isAside = false;
  for (const line of lines) {
    if (/^group\b.*\bdo\b/.test(line)) isAside = !/production|default/.test(line);
    else if (/^end\b/.test(line)) isAside = false;
    else if (!isAside && !/groups?:\s*(?:\[)?\s*:?(?:development|test)/.test(line))
      found.push(...match(line, /^gem\s{0,5}\(?\s{0,5}["']([\w-]{1,100})["']/));
  }
  return found;
}

function mavenArtifacts(text: string): string[] {
  return text
    .split('<dependency>')
    .slice(1, 500)
    .flatMap((part) => {
      const body = part.slice(0, Math.min(2_000, part.indexOf('</dependency>') + 1 || 2_000));
      return /<scope>\s*(?:test|provided)/.test(body)
        ? []
        : match(body, /<artifactId>\s{0,20}([\w.-]{1,200})/);
    });
}

function gradleLine(line: string): string[] {
  if (
    /^(?:\/\/|test|androidTest|\w{0,40}[tT]est\w*(?:Implementation|RuntimeOnly|CompileOnly)|developmentOnly|kapt|annotationProcessor)/.test(
      line,
    )
  )
    return [];
  const plain = /["']([\w.-]{1,200}:[\w.-]{1,200})(?::[^"']{0,100})?["']/.exec(line)?.[1];
  const group = /name\s*[:=]\s*["']([\w.-]{1,200})["']/.exec(line)?.[1];
  const alias = /\(\s*libs\.([\w.]{1,100})\s*\)/.exec(line)?.[1];
  return [plain?.split(':')[1] ?? group ?? alias ?? ''].filter(Boolean);
}

function mixLine(line: string): string[] {
  return line.startsWith('#') || /only:\s*(?:\[)?\s*:(?:test|dev)\b(?!.*:prod)/.test(line)
    ? []
    : match(line, /\{\s{0,5}:(\w{1,100})\s{0,5},/);
}

/** Setup files, Cabal: whatever is written like a name. */
function quotedName(line: string): string[] {
  return match(line, /^[,\s"'-]{0,20}([a-zA-Z][\w.-]{1,80}(?:\[[\w,]{1,60}\])?)\s*(?:[<>=~!^,"']|$)/);
}
