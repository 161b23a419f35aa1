// A Kotlin program in an empty folder, with the Maven repository of a release and no clone.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { createSandbox } from '@intake/sandbox'
import { createDataDir } from '@intake/test-kit/data-dir'
import { runMaven } from './kotlin-build.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../tools/scripts/release.mjs', import.meta.url))
const options = { timeout: 9 * 60_000, maxBuffer: 64 * 1024 ** 2 }

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

const pom = (repository: string) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>program</artifactId>
  <version>1</version>
  <properties><kotlin.compiler.jvmTarget>17</kotlin.compiler.jvmTarget></properties>
  <repositories><repository><id>intake</id><url>${repository}</url></repository></repositories>
  <dependencies>
    <dependency><groupId>intake</groupId><artifactId>intake-client</artifactId><version>${version}</version></dependency>
  </dependencies>
  <build>
    <sourceDirectory>src</sourceDirectory>
    <plugins>
      <plugin>
        <groupId>org.jetbrains.kotlin</groupId>
        <artifactId>kotlin-maven-plugin</artifactId>
        <version>2.4.0</version>
        <executions><execution><goals><goal>compile</goal></goals></execution></executions>
      </plugin>
    </plugins>
  </build>
</project>
`

const program = `import intake.client.Intake
import java.io.File

fun main(arguments: Array<String>) {
    val intake = Intake(arguments[0], arguments[1], "com.example.program", File("waiting"))
    intake.log("installed")
    intake.shutdown(10_000).get()
}
`

t.test('a Kotlin program sends with the client of the Maven repository', async (t) => {
  const sandbox = await createSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const release = join(createDataDir(t), 'release')
  await run(process.execPath, [script, '--local', '--to', release], options)

  const cwd = createDataDir(t)
  mkdirSync(join(cwd, 'src'))
  writeFileSync(join(cwd, 'pom.xml'), pom(pathToFileURL(join(release, 'maven')).href))
  writeFileSync(join(cwd, 'src/Main.kt'), program)
  const libraries = ['dependency:copy-dependencies', '-DoutputDirectory=libraries']
  await runMaven(['-q', 'compile', ...libraries], cwd)
  const classPath = ['target/classes', 'libraries/*'].join(':')
  await run('java', ['-cp', classPath, 'MainKt', sandbox.url, sandbox.apiKey], { ...options, cwd })
  t.match(sandbox.records(), [{ event: 'installed', bundle_identifier: 'com.example.program' }])
})
