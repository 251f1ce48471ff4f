// A local HBase with the tables of OpenTSDB, for benchbook/systems/opentsdb.py. It is started from its source:
//   java -cp <jars and the folder of hbase-site.xml> HBase.java
// It writes "tables are there" when it can be used; then it takes commands on standard input, one a line, and
// answers each with "done": "settle" writes everything out, merges each table's files into one, and waits for it.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.HMaster;

public class HBase {
  static final List<String[]> TABLES =
      List.of(
          new String[] {"tsdb", "t"},
          new String[] {"tsdb-uid", "id", "name"},
          new String[] {"tsdb-tree", "t"},
          new String[] {"tsdb-meta", "name"});

  public static void main(String[] arguments) throws Exception {
    Thread master = new Thread(() -> HMaster.main(new String[] {"start"}), "master");
    master.setDaemon(true);
    master.start();
    Configuration configuration = HBaseConfiguration.create();
    try (Connection connection = ConnectionFactory.createConnection(configuration);
        Admin admin = connection.getAdmin()) {
      make(admin);
      System.out.println("tables are there");
      BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
      for (String command = commands.readLine(); command != null; command = commands.readLine()) {
        if (command.equals("settle")) {
          settle(admin);
        }
        System.out.println("done");
      }
    }
    System.exit(0);
  }

  static void make(Admin admin) throws Exception {
    for (String[] table : TABLES) {
      TableName name = TableName.valueOf(table[0]);
      if (admin.tableExists(name)) {
        continue;
      }
      TableDescriptorBuilder made = TableDescriptorBuilder.newBuilder(name);
      for (int i = 1; i < table.length; i++) {
        made.setColumnFamily(ColumnFamilyDescriptorBuilder.of(table[i]));
      }
      admin.createTable(made.build());
    }
  }

  static void settle(Admin admin) throws Exception {
    for (String[] table : TABLES) {
      admin.flush(TableName.valueOf(table[0]));
      admin.majorCompact(TableName.valueOf(table[0]));
    }
    Thread.sleep(1000); // a compaction that was asked for is not at once one that runs
    for (String[] table : TABLES) {
      while (admin.getCompactionState(TableName.valueOf(table[0])) != CompactionState.NONE) {
        Thread.sleep(100);
      }
    }
  }
}
