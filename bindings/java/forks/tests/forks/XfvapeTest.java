package forks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.xfvape.uid.UidGenerator;
import com.xfvape.uid.exception.UidGenerateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericXmlApplicationContext;
import org.springframework.core.env.PropertiesPropertySource;
import org.springframework.core.io.ByteArrayResource;

/** {@code com.xfvape.uid:uid-generator} and the face in its place. */
final class XfvapeTest {
    private static final String OURS = "io.uidring.uidgenerator.xfvape.CachedUidGenerator";
    private static final String ASSIGNER =
            "<property name='workerIdAssigner' ref='disposableWorkerIdAssigner'/>";
    private static final String ADDRESS = "<property name='address' value='${spring.datasource.url}"
            + "'/><property name='options'><map><entry key='user' value='"
            + "${spring.datasource.username}'/></map></property>";

    /** The XML of UidGenerator's README, with that class, and where its worker id is from. */
    private static GenericXmlApplicationContext start(Table table, String type, String worker) {
        String xml = """
            <beans xmlns='http://www.springframework.org/schema/beans'
                xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'
                xmlns:context='http://www.springframework.org/schema/context'
                xmlns:tx='http://www.springframework.org/schema/tx'
                xsi:schemaLocation='http://www.springframework.org/schema/beans
                    http://www.springframework.org/schema/beans/spring-beans.xsd
                    http://www.springframework.org/schema/context
                    http://www.springframework.org/schema/context/spring-context.xsd
                    http://www.springframework.org/schema/tx
                    http://www.springframework.org/schema/tx/spring-tx.xsd'>
              <context:annotation-config/>
              <context:property-placeholder/>
              <tx:annotation-driven transaction-manager='transactions' proxy-target-class='true'/>
              <bean id='dataSource'
                  class='org.springframework.jdbc.datasource.DriverManagerDataSource'>
                <property name='url' value='${spring.datasource.url}'/>
                <property name='username' value='${spring.datasource.username}'/>
              </bean>
              <bean id='transactions'
                  class='org.springframework.jdbc.datasource.DataSourceTransactionManager'>
                <property name='dataSource' ref='dataSource'/>
              </bean>
              <bean id='sqlSessionFactory' class='org.mybatis.spring.SqlSessionFactoryBean'>
                <property name='dataSource' ref='dataSource'/>
                <property name='mapperLocations'
                    value='classpath:/META-INF/mybatis/mapper/WORKER_NODE.xml'/>
              </bean>
              <bean class='org.mybatis.spring.mapper.MapperScannerConfigurer'>
                <property name='basePackage' value='com.xfvape.uid.worker.dao'/>
              </bean>
              <bean id='disposableWorkerIdAssigner' lazy-init='true'
                  class='com.xfvape.uid.worker.DisposableWorkerIdAssigner'/>
              <bean id='uidGenerator' class='%s' init-method='afterPropertiesSet'>
                %s
                <property name='timeBits' value='31'/>
                <property name='workerBits' value='19'/>
                <property name='seqBits' value='13'/>
                <property name='epochStr' value='2016-09-20'/>
              </bean>
            </beans>
            """.formatted(type, worker);
        GenericXmlApplicationContext context = new GenericXmlApplicationContext();
        Properties properties = new Properties();
        properties.putAll(table.properties());
        context.getEnvironment().getPropertySources()
                .addFirst(new PropertiesPropertySource("database", properties));
        context.load(new ByteArrayResource(xml.getBytes()));
        context.refresh();
        return context;
    }

    @Test
    void oldAndNewNodesShareOneTable() throws Exception {
        // How many ids each of them takes: their default generator has 8,192 a second.
        Map<List<String>, Integer> kinds = Map.of(
                List.of("com.xfvape.uid.impl.CachedUidGenerator", ASSIGNER), 200_000,
                List.of("com.xfvape.uid.impl.DefaultUidGenerator", ASSIGNER), 20_000,
                List.of(OURS, ASSIGNER), 500_000,
                List.of(OURS, ADDRESS), 500_000);
        List<GenericXmlApplicationContext> contexts = new ArrayList<>();
        try (Table table = new Table("xfvape", 1)) {
            Taking taking = new Taking();
            for (int start = 0; start < 2; start++) {
                kinds.forEach((kind, count) -> {
                    contexts.add(start(table, kind.get(0), kind.get(1)));
                    UidGenerator uids = contexts.get(contexts.size() - 1)
                            .getBean(UidGenerator.class);
                    taking.node(count, uids::getUID);
                });
            }
            long[] ids = taking.ids();
            assertThat(ids).hasSize(2_440_000);
            assertThat(table.rows()).isEqualTo(8);
            // Whoever reads an id reads the same.
            UidGenerator one = contexts.get(0).getBean(UidGenerator.class);
            for (GenericXmlApplicationContext context : contexts) {
                for (int i = 0; i < ids.length; i += 100_000) {
                    assertThat(context.getBean(UidGenerator.class).parseUID(ids[i]))
                            .isEqualTo(one.parseUID(ids[i]));
                }
            }
        } finally {
            contexts.forEach(GenericXmlApplicationContext::close);
        }
    }

    /** Their own defaults ended in 2024: a node of theirs makes negative ids, and ours refuses. */
    @Test
    void theDefaultsAreOver() {
        var bean = new io.uidring.uidgenerator.xfvape.CachedUidGenerator();
        bean.setWorkerIdAssigner(() -> 1);
        assertThatThrownBy(bean::getUID).isInstanceOf(UidGenerateException.class);
    }
}
