import './view.css';
import './lab.css';
import './chat.css';
