// Writes the parquet files beside it, with three writers that know nothing of our reader. A development aid: the tests
// read the files, not this. In a directory of its own:
//
//   npm install apache-arrow@21.2.0 parquet-wasm@0.8.0 @duckdb/node-api@1.5.6-r.1 hyparquet-writer@0.16.10
//   cp .../tests/data/parquet/make.mjs . && node make.mjs .../tests/data/parquet
//
// kinds.jsonl is what every kinds-*.parquet holds: each kind of column a dataset may have, with nulls.
import { DuckDBInstance } from '@duckdb/node-api'
import * as arrow from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { writeFileSync } from 'node:fs'
import * as wasm from 'parquet-wasm'

const out = process.argv[2]
const { Compression, Encoding, WriterPropertiesBuilder, WriterVersion } = wasm

// --- the same rows for everyone ------------------------------------------------------------------

const words = ['amber', 'birch', 'cedar', 'delta', 'ember']
const rows = []
for (let i = 0; i < 40; i++) {
  rows.push({
    text: i % 7 === 3 ? null : i === 5 ? '' : `Puzzle ${words[i % 5]} ${i}:\n"how many", said ${'x'.repeat(i % 4)}né?`,
    label: i % 11 === 4 ? null : words[(i * i) % 5],
    whole: i % 5 === 2 ? null : i * 1_000_003 - 20_000_000,
    small: i - 20,
    real: i % 9 === 8 ? null : i / 8 - 2.5,
    single: i / 4,
    flag: i % 6 === 5 ? null : i % 3 === 0,
    day: new Date(Date.UTC(1969, 11, 20) + i * 86_400_000).toISOString().slice(0, 10),
    moment: new Date(Date.UTC(1969, 11, 31, 20) + i * 3_600_000).toISOString().slice(0, 19),
    turns: i % 8 === 6 ? null : Array.from({ length: i % 4 }, (_, k) => `turn ${k} of ${i % 3}`),
  })
}
writeFileSync(`${out}/kinds.jsonl`, rows.map((row) => JSON.stringify(row) + '\n').join(''))

// --- apache arrow's Rust writer, as a WebAssembly module ------------------------------------------

const texts = (values) => arrow.vectorFromArray(values, new arrow.Utf8())
const lists = (values) => arrow.vectorFromArray(values, new arrow.List(new arrow.Field('item', new arrow.Utf8(), true)))
const times = (values) =>
  arrow.vectorFromArray(values.map((time) => new Date(time + 'Z')), new arrow.Timestamp(arrow.TimeUnit.MILLISECOND))
const wholes = (values) => arrow.vectorFromArray(values.map((v) => (v === null ? null : BigInt(v))), new arrow.Int64())
const column = (name) => rows.map((row) => row[name])

function arrowBytes(columns, properties) {
  const table = wasm.Table.fromIPCStream(arrow.tableToIPC(new arrow.Table(columns), 'stream'))
  return wasm.writeParquet(table, properties.build())
}

const kinds = {
  text: texts(column('text')),
  label: texts(column('label')),
  whole: wholes(column('whole')),
  small: arrow.vectorFromArray(column('small'), new arrow.Int32()),
  real: arrow.vectorFromArray(column('real'), new arrow.Float64()),
  single: arrow.vectorFromArray(column('single'), new arrow.Float32()),
  flag: arrow.vectorFromArray(column('flag'), new arrow.Bool()),
  day: arrow.vectorFromArray(column('day').map((day) => new Date(day)), new arrow.DateDay()),
  moment: times(column('moment')),
  turns: lists(column('turns')),
  nested: arrow.vectorFromArray(
    rows.map((row) => ({ a: row.small, b: row.label })),
    new arrow.Struct([new arrow.Field('a', new arrow.Int32(), true), new arrow.Field('b', new arrow.Utf8(), true)])),
}
const save = (name, bytes) => writeFileSync(`${out}/${name}.parquet`, new Uint8Array(bytes))
const properties = () => new WriterPropertiesBuilder().setMaxRowGroupSize(16)

for (const [name, codec] of [['none', 'UNCOMPRESSED'], ['snappy', 'SNAPPY'], ['gzip', 'GZIP'], ['zstd', 'ZSTD'],
  ['lz4raw', 'LZ4_RAW'], ['brotli', 'BROTLI']]) {
  save(`kinds-arrow-${name}`, arrowBytes(kinds, properties().setCompression(Compression[codec])))
}
save('kinds-arrow-plain-small-pages', arrowBytes(kinds, properties().setDictionaryEnabled(false)
  .setDataPageSizeLimit(64).setWriteBatchSize(4).setCompression(Compression.SNAPPY)))
save('kinds-arrow-v2', arrowBytes(kinds, properties().setWriterVersion(WriterVersion.V2).setCompression(Compression.SNAPPY)))
save('kinds-arrow-v2-delta', arrowBytes(kinds, properties().setWriterVersion(WriterVersion.V2).setDictionaryEnabled(false)
  .setColumnEncoding('text', Encoding.DELTA_BYTE_ARRAY).setColumnEncoding('label', Encoding.DELTA_LENGTH_BYTE_ARRAY)
  .setColumnEncoding('whole', Encoding.DELTA_BINARY_PACKED).setColumnEncoding('small', Encoding.DELTA_BINARY_PACKED)
  .setColumnEncoding('real', Encoding.BYTE_STREAM_SPLIT).setColumnEncoding('single', Encoding.BYTE_STREAM_SPLIT)
  .setCompression(Compression.ZSTD)))

// --- DuckDB ---------------------------------------------------------------------------------------

const duck = await (await DuckDBInstance.create(':memory:')).connect()
await duck.run(`CREATE TABLE kinds AS SELECT text, label, whole::BIGINT whole, small::INTEGER small, real::DOUBLE "real",
  single::FLOAT single, flag::BOOLEAN flag, day::DATE "day", moment::TIMESTAMP moment, turns::VARCHAR[] turns
  FROM read_json('${out}/kinds.jsonl', format = 'newline_delimited', columns = {text: 'VARCHAR', label: 'VARCHAR',
  whole: 'BIGINT', small: 'INTEGER', "real": 'DOUBLE', single: 'FLOAT', flag: 'BOOLEAN', "day": 'DATE',
  moment: 'TIMESTAMP', turns: 'VARCHAR[]'})`)
for (const [name, options] of [['snappy', "COMPRESSION snappy"], ['v2-zstd', "COMPRESSION zstd, PARQUET_VERSION v2"]]) {
  await duck.run(`COPY kinds TO '${out}/kinds-duckdb-${name}.parquet' (FORMAT parquet, ${options})`)
}
// Types that we refuse by name.
await duck.run(`COPY (SELECT 1.25::DECIMAL(9, 2) AS price, MAP {'k': 1} AS pairs, [[1], [2]] AS lists, 'x' AS text)
  TO '${out}/unsupported.parquet' (FORMAT parquet)`)

// --- hyparquet-writer -----------------------------------------------------------------------------

const plain = (name, type) => ({ name, type, data: column(name) })
save('kinds-hyparquet', parquetWriteBuffer({
  rowGroupSize: 16,
  columnData: [plain('text', 'STRING'), plain('label', 'STRING'), plain('small', 'INT32'), plain('real', 'DOUBLE'),
    plain('single', 'FLOAT'), plain('flag', 'BOOLEAN'),
    { name: 'whole', type: 'INT64', data: column('whole').map((v) => (v === null ? null : BigInt(v))) },
    { name: 'moment', type: 'TIMESTAMP', data: column('moment').map((time) => new Date(time + 'Z')) }],
}))

// --- files with the columns of the datasets on the hub, and questions of our own ------------------

save('aime24', arrowBytes({
  ID: texts(['2024-X-1', '2024-X-2', '2024-X-3']),
  Problem: texts(['Find the remainder when $7^{2024}$ is divided by $10$.',
    'How many positive divisors does $72$ have?', 'Let $x + 1/x = 3$. Find $x^3 + 1/x^3$.']),
  Solution: texts(['The powers of seven end in 7, 9, 3, 1, and so on.', '$72 = 2^3 3^2$.', 'Cube the equation.']),
  Answer: wholes([1, 12, 18]),
}, new WriterPropertiesBuilder().setCompression(Compression.SNAPPY)))

const live = [
  ['spatial', '2024-07-26', '', null, 'four', 'A square is cut along both diagonals. How many pieces are there? Bold it.'],
  ['web_of_lies_v2', '2024-06-24', '2025-04-02', null, 'yes, no, yes', 'Ann says that Bob lies. Bob says ... **yes, no, yes**?'],
  ['zebra_puzzle', '2024-06-24', '2024-11-25', null, '2', 'Two people stand in line. Where is the one with the hat? ***X***'],
  ['zebra_puzzle', '2024-11-25', '', 8, 'tea, red', 'Two people stand in line. Who drinks what? <solution></solution>'],
]
const field = (at) => live.map((question) => question[at])
save('livebench-reasoning', arrowBytes({
  question_id: texts(live.map((_, i) => 'abcdef'[i].repeat(64))),
  category: texts(live.map(() => 'reasoning')),
  ground_truth: texts(field(4)),
  turns: lists(field(5).map((turn) => [turn])),
  task: texts(field(0)),
  livebench_release_date: times(field(1).map((day) => day + 'T00:00:00')),
  livebench_removal_date: texts(field(2)),
  level: wholes(field(3)),
}, new WriterPropertiesBuilder().setCompression(Compression.SNAPPY)))
