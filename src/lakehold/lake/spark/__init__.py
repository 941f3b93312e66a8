"""Spark: sessions, tables, writes and queries. Only a worker imports this package.

- `spark_session`: the one Spark session of a process
- `scratch`: the private folder for temporary files of a process
- `runtime`: Spark, Java, jars and the class data archive on this machine; starts the JVM before PySpark is imported
- `setup_programs`: programs that fetch the jars and write the archive
- `jvm`: calls into the JVM, and the Java exceptions behind an error
- `tables`: Iceberg tables as the platform reads and writes them
- `local_rows`: DataFrames of rows that are here already, without Python processes
- `table_writer`: idempotent writes, also of a span of a table, and of rows with other fields than the table has
- `history`, `scd2`: histories of tables as slowly changing dimensions, type 2
- `row_checks`: counts of bad rows, and fingerprints
- `maintenance`: expires snapshots, compacts and deletes files
- `session_pool`: Spark sessions of users, kept between queries
- `queries`: queries and probes of users
- `query_results`: rows of a query as Arrow, in memory or in a file
- `fair_share`: fair scheduling between users and runs
- `guard`: checks what a query consists of
"""
