import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.TimeZone;

/**
 * Asks as an analyst with ClickHouse's JDBC driver. Prints one JSON object per line, which tools.ts reads. Arguments:
 * host, port, user, password, views.
 */
public class Analyst {
  /** With user and password alone. */
  static Connection plain;

  /** With the properties of docs/connect.md. */
  static Connection connection;

  interface Work {
    String facts() throws Exception;
  }

  public static void main(String[] arguments) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("user", arguments[2]);
    properties.setProperty("password", arguments[3]);
    String url = "jdbc:clickhouse://" + arguments[0] + ":" + arguments[1] + "/intake";
    plain = DriverManager.getConnection(url, properties);
    properties.setProperty("clickhouse_setting_output_format_binary_write_json_as_string", "1");
    properties.setProperty("retry", "0");
    connection = DriverManager.getConnection(url, properties);
    System.out.println("{\"versions\":[" + quote(plain.getMetaData().getDriverVersion()) + "]}");

    for (String view : arguments[4].split(",")) {
      String sql = "SELECT * FROM intake." + view + " LIMIT 1000";
      attempt(view + ", plain", () -> "\"rows\":" + readAll(plain, sql));
      attempt(view, () -> "\"rows\":" + readAll(connection, sql));
    }
    for (String column : List.of("params", "device_extra", "extra")) {
      attempt("logs." + column, () -> pairs(column));
    }
    attempt("a param", () -> "\"value\":" + countOf("it's"));
    attempt("a big integer", () -> "\"value\":" + quote(one("SELECT params.big FROM intake.logs WHERE event = 'big'")));
    attempt("a time", Analyst::time);
    attempt("cancel", Analyst::cancel);
    System.exit(0);
  }

  /** Reads every column as an object and as a text, as previews do. */
  static int readAll(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
      int count = 0;
      for (; rows.next(); count++) {
        for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
          rows.getObject(column);
          rows.getString(column);
        }
      }
      return count;
    }
  }

  static String pairs(String column) throws SQLException {
    String sql = "SELECT " + column + ", intake_json(" + column + ") FROM intake.logs ORDER BY id";
    List<String> pairs = new ArrayList<>();
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) pairs.add("[" + quote(rows.getString(1)) + "," + quote(rows.getString(2)) + "]");
    }
    return "\"pairs\":[" + String.join(",", pairs) + "]";
  }

  static int countOf(String event) throws SQLException {
    String sql = "SELECT count() FROM intake.logs WHERE event = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, event);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  static String one(String sql) throws SQLException {
    try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  static String time() throws SQLException {
    OffsetDateTime time;
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT time FROM intake.logs WHERE event = 'noon'")) {
      rows.next();
      time = rows.getObject(1, OffsetDateTime.class);
    }
    String sql = "SELECT count() FROM intake.logs WHERE event = 'noon' AND time = ?";
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setObject(1, time);
      try (ResultSet rows = statement.executeQuery()) {
        rows.next();
        int offset = TimeZone.getDefault().getOffset(System.currentTimeMillis()) / 1000;
        return "\"value\":" + quote(time.withOffsetSameInstant(ZoneOffset.UTC).toString())
            + ",\"found\":" + rows.getInt(1) + ",\"offset\":" + offset;
      }
    }
  }

  static String cancel() throws Exception {
    Statement slow = connection.createStatement();
    String[] outcome = {""};
    Thread thread = new Thread(() -> {
      try {
        slow.executeQuery(
            "SELECT sum(sleepEachRow(1)) FROM numbers(110) SETTINGS max_block_size = 1, max_execution_time = 120");
      } catch (SQLException error) {
        outcome[0] = error.toString();
      }
    });
    thread.start();
    String running =
        "SELECT count() FROM system.processes WHERE query LIKE '%numbers(110)%' AND query NOT LIKE '%processes%'";
    while (one(running).equals("0")) Thread.onSpinWait();
    slow.cancel();
    while (!one(running).equals("0")) Thread.onSpinWait();
    thread.join();
    return "\"value\":" + !outcome[0].isEmpty();
  }

  static void attempt(String check, Work work) {
    String facts;
    try {
      facts = work.facts();
    } catch (Exception error) {
      facts = "\"error\":" + quote(error + " <- " + error.getCause());
    }
    System.out.println("{\"check\":" + quote(check) + "," + facts + "}");
  }

  static String quote(String text) {
    if (text == null) return "null";
    StringBuilder quoted = new StringBuilder("\"");
    for (char one : text.toCharArray()) {
      if (one == '"' || one == '\\') quoted.append('\\').append(one);
      else if (one < ' ') quoted.append(String.format("\\u%04x", (int) one));
      else quoted.append(one);
    }
    return quoted.append('"').toString();
  }
}
