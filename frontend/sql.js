// The SQL editor, for the one page that has it: too heavy for all others.
import "./islands/sql-editor.js";
