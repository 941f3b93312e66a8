// SQL as Spark reads it, its colours, and the names that the editor can complete.
import { SQLDialect, sql } from "@codemirror/lang-sql";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const KEYWORDS =
  "all and anti any array as asc between bottom by case cast cross cube current date day desc distinct else end escape except " +
  "exists extract false fetch filter first following for from full group grouping having hour if ilike in inner intersect " +
  "interval into is join last lateral left like limit minus minute month natural not null nulls offset on or order outer over " +
  "partition percent pivot preceding qualify range recursive regexp right rlike rollup row rows second select semi sets struct " +
  "table tablesample then timestamp to true unbounded union unique unpivot using values view when where window with within year";
const TYPES =
  "bigint binary boolean byte date decimal double float int integer interval long map real short smallint string struct " +
  "timestamp timestamp_ntz tinyint";
const FUNCTIONS =
  "abs approx_count_distinct array_agg avg ceil coalesce collect_list collect_set concat concat_ws count current_date " +
  "current_timestamp date_add date_diff date_format date_sub date_trunc dense_rank explode first_value floor from_json greatest " +
  "get_json_object lag last_value lead least length lower max max_by median min min_by mode month nullif percentile " +
  "percent_rank quarter rank regexp_extract regexp_replace replace round row_number sequence size split stddev substring sum " +
  "to_date to_timestamp transform trim try_cast try_divide upper variance year";

const spark = SQLDialect.define({
  keywords: KEYWORDS,
  types: TYPES,
  builtin: FUNCTIONS,
  identifierQuotes: "`",
  doubleQuotedStrings: true,
  backslashEscapes: true,
  caseInsensitiveIdentifiers: true,
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent-text)", fontWeight: "500" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.lineComment, tags.blockComment], color: "var(--text-3)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--text-2)" },
]);

export const coloured = syntaxHighlighting(colours);
export const language = (schema) => sql({ dialect: spark, schema, upperCaseKeywords: true });

// What may be read here: layers and tables at once, fields of a table once the text names it.
export class Names {
  constructor({ getNames, getFields }) {
    this.addresses = { names: getNames, fields: getFields };
    this.layers = [];
    this.fields = new Map();
  }

  async load() {
    this.layers = (await got(this.addresses.names))?.layers ?? [];
    return this.schema();
  }

  // The fields of the tables that the text names and that are not known yet; nothing if there are none.
  async about(text) {
    const words = text.toLowerCase();
    const wanted = this.layers
      .flatMap((layer) => layer.tables)
      .filter((table) => !this.fields.has(table.id) && words.includes(table.name.toLowerCase()))
      .slice(0, 20);
    if (!wanted.length) return null;
    for (const table of wanted) this.fields.set(table.id, []);
    const told = await got(`${this.addresses.fields}?${new URLSearchParams(wanted.map((table) => ["table", table.id]))}`);
    for (const [id, fields] of Object.entries(told?.fields ?? {})) this.fields.set(id, fields);
    return this.schema();
  }

  schema() {
    const field = ({ name, type }) => ({ label: name, detail: type, type: "property" });
    const table = (each) => [each.name, (this.fields.get(each.id) ?? []).map(field)];
    return Object.fromEntries(this.layers.map((layer) => [layer.name, Object.fromEntries(layer.tables.map(table))]));
  }
}

async function got(address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  return answer?.ok ? answer.json() : null;
}
